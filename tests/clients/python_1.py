"""The Python SDK 1.x against a server: `python_1.py SERVER [ARGUMENT…]`."""

import json
import sys
import time

import anyio
import mcp.types as types
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from checks import CALLS, Checks, expect, expect_refusal


async def cancel_slow_calls(session: ClientSession) -> None:
    slow, quick = CALLS["slow"], CALLS["answered"][0]
    async with anyio.create_task_group() as calls:
        first = session._request_id
        for _ in range(slow["at_once"]):
            calls.start_soon(session.call_tool, slow["tool"], slow["arguments"])
        await anyio.wait_all_tasks_blocked()
        await session.send_ping()
        for request in range(first, first + slow["at_once"]):
            params = types.CancelledNotificationParams(requestId=request)
            await session.send_notification(types.ClientNotification(types.CancelledNotification(params=params)))
        began = time.monotonic()
        result = await session.call_tool(quick["tool"], quick["arguments"])
        expect(not result.isError, result)
        expect(time.monotonic() - began < 3, "the cancelled calls still hold their connections")
        calls.cancel_scope.cancel()


async def main() -> None:
    checks = Checks("python-1")
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        with checks.of("connect"):
            result = await session.initialize()
            expect(result.serverInfo.name == "mcp-server-suite", result)
        with checks.of("list"):
            names = {tool.name for tool in (await session.list_tools()).tools}
            expect(names == {call["tool"] for call in CALLS["answered"]}, names)
        for call in CALLS["answered"]:
            with checks.of(f"call {call['tool']}"):
                result = await session.call_tool(call["tool"], call["arguments"])
                expect(not result.isError, result)
                expect(json.loads(result.content[0].text) == result.structuredContent, result)
        for call in CALLS["refused"]:
            with checks.of(f"be refused by {call['tool']}"):
                result = await session.call_tool(call["tool"], call["arguments"])
                expect_refusal(result.isError, result.content[0].text, call["code"])
        with checks.of("cancel"):
            await cancel_slow_calls(session)
        closing = time.monotonic()
    with checks.of("close"):
        expect(time.monotonic() - closing < 2, "the server had to be killed")
    checks.end()


anyio.run(main)
