"""The Python SDK 2.x against a server, in both eras: `python_2.py SERVER [ARGUMENT…]`."""

import json
import sys
import time

import anyio
from mcp import Client, StdioServerParameters

from checks import CALLS, Checks, expect, expect_refusal


async def cancel_slow_calls(client: Client) -> None:
    slow, quick = CALLS["slow"], CALLS["answered"][0]
    async with anyio.create_task_group() as calls:
        for _ in range(slow["at_once"]):
            calls.start_soon(client.call_tool, slow["tool"], slow["arguments"])
        await anyio.wait_all_tasks_blocked()
        # Read behind the calls, so that these have begun.
        await client.list_tools()
        # The SDK tells the server of what it abandons.
        calls.cancel_scope.cancel()
    began = time.monotonic()
    result = await client.call_tool(quick["tool"], quick["arguments"])
    expect(not result.is_error, result)
    expect(time.monotonic() - began < 3, "the cancelled calls still hold their connections")


async def session(checks: Checks, mode: str, version: str) -> None:
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    async with Client(server, mode=mode, cache=None) as client:
        with checks.of(f"connect, {mode}"):
            expect(client.protocol_version == version, client.protocol_version)
            expect(client.server_info.name == "mcp-server-suite", client.server_info)
        with checks.of("list"):
            names = {tool.name for tool in (await client.list_tools()).tools}
            expect(names == {call["tool"] for call in CALLS["answered"]}, names)
        for call in CALLS["answered"]:
            with checks.of(f"call {call['tool']}"):
                result = await client.call_tool(call["tool"], call["arguments"])
                expect(not result.is_error, result)
                expect(json.loads(result.content[0].text) == result.structured_content, result)
        for call in CALLS["refused"]:
            with checks.of(f"be refused by {call['tool']}"):
                result = await client.call_tool(call["tool"], call["arguments"])
                expect_refusal(result.is_error, result.content[0].text, call["code"])
        with checks.of("cancel"):
            await cancel_slow_calls(client)
        closing = time.monotonic()
    with checks.of("close"):
        expect(time.monotonic() - closing < 2, "the server had to be killed")


async def main() -> None:
    checks = Checks("python-2")
    await session(checks, "legacy", "2025-11-25")
    await session(checks, "auto", "2026-07-28")
    checks.end()


anyio.run(main)
