// The TypeScript SDK 2.x against a server, in both eras: `typescript_2.mjs SERVER [ARGUMENT…]`.

import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Checks, session } from './checks.mjs';

const [command, ...args] = process.argv.slice(2);
const checks = new Checks('typescript-2');
for (const [mode, revision] of [['legacy', '2025-11-25'], ['auto', '2026-07-28']]) {
    const client = new Client({ name: 'it', version: '0' }, { versionNegotiation: { mode } });
    await session(checks, {
        client,
        transport: new StdioClientTransport({ command, args }),
        callTool: (params, options) => client.callTool(params, options),
        checkConnected: () => assert.equal(client.getNegotiatedProtocolVersion(), revision),
    });
}
checks.end();
