// The MCP Inspector's `--cli` against a server, one process a command: `inspector.mjs SERVER [ARGUMENT…]`.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { CALLS, Checks, TOOLS } from './checks.mjs';

const server = process.argv.slice(2);
const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json');
const program = join(dirname(manifest), 'clients/launcher/build/index.js');

/** What the inspector exits with when the tool said `isError`. */
const REFUSED = 5;

/** Runs the inspector; the result that it printed. */
function inspect(era, options, exit = 0) {
    const args = [program, '--cli', ...server, '--quiet', '--format', 'json', '--protocol-era', era, ...options];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 });
    assert.equal(status, exit, stdout + stderr);
    return JSON.parse(stdout).result;
}

function call(tool, args) {
    return ['--method', 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args)];
}

const checks = new Checks('inspector');
for (const era of ['legacy', 'modern']) {
    await checks.of(`list, ${era}`, () => {
        const { tools } = inspect(era, ['--method', 'tools/list', '--strict']);
        assert.deepEqual(new Set(tools.map(tool => tool.name)), TOOLS);
    });
}
for (const { tool, arguments: args } of CALLS.answered) {
    await checks.of(`call ${tool}`, () => assert.equal(inspect('modern', call(tool, args)).isError, false));
}
for (const { tool, arguments: args, code } of CALLS.refused) {
    await checks.of(`be refused by ${tool}`, () => {
        const result = inspect('legacy', call(tool, args), REFUSED);
        assert.equal(JSON.parse(result.content[0].text).code, code);
    });
}
checks.end();
