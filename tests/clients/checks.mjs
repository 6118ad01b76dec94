// What the scripts of the Node clients share: the calls, and counting.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

export const CALLS = JSON.parse(readFileSync(process.env.CALLS ?? new URL('calls.json', import.meta.url)));
export const TOOLS = new Set(CALLS.answered.map(call => call.tool));

export class Checks {
    passed = 0;
    failed = 0;

    constructor(name) {
        this.name = name;
    }

    /** One check: fails when `block` does. */
    async of(what, block) {
        try {
            await block();
            this.passed += 1;
        } catch (error) {
            this.failed += 1;
            console.log(`${this.name}: FAILED to ${what}\n${error.stack}`);
        }
    }

    end() {
        console.log(`${this.name}: ${this.passed} passed, ${this.failed} failed`);
        process.exit(this.failed === 0 ? 0 : 1);
    }
}

/** Everything an SDK's client does on one connection, but for what differs between the majors. */
export async function session(checks, { client, transport, callTool, checkConnected = () => {} }) {
    await checks.of('connect', async () => {
        await client.connect(transport);
        assert.equal(client.getServerVersion().name, 'mcp-server-suite');
        checkConnected();
    });
    await checks.of('list', async () => {
        assert.deepEqual(new Set((await client.listTools()).tools.map(tool => tool.name)), TOOLS);
    });
    for (const { tool, arguments: args } of CALLS.answered) {
        await checks.of(`call ${tool}`, async () => {
            const result = await callTool({ name: tool, arguments: args });
            assert.equal(result.isError, false, JSON.stringify(result));
            assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
        });
    }
    for (const { tool, arguments: args, code } of CALLS.refused) {
        await checks.of(`be refused by ${tool}`, async () => {
            const result = await callTool({ name: tool, arguments: args });
            assert.equal(result.isError, true);
            assert.equal(JSON.parse(result.content[0].text).code, code);
        });
    }
    await checks.of('cancel', () => cancelSlowCalls(callTool));
    await checks.of('close', async () => {
        const began = performance.now();
        await client.close();
        assert.ok(performance.now() - began < 2000, 'the server had to be killed');
    });
}

async function cancelSlowCalls(callTool) {
    const { tool, arguments: args, at_once: atOnce } = CALLS.slow;
    const controllers = Array.from({ length: atOnce }, () => new AbortController());
    const calls = controllers.map(({ signal }) => callTool({ name: tool, arguments: args }, { signal }));
    const refused = calls.map(call => assert.rejects(call));
    await callTool({ name: 'no_such_tool' }).catch(() => 'answered behind the calls, so that these have begun');
    controllers.forEach(controller => controller.abort('changed my mind'));
    await Promise.all(refused);
    const began = performance.now();
    const quick = CALLS.answered[0];
    assert.equal((await callTool({ name: quick.tool, arguments: quick.arguments })).isError, false);
    assert.ok(performance.now() - began < 3000, 'the cancelled calls still hold their connections');
}
