// The TypeScript SDK 1.x against a server: `typescript_1.mjs SERVER [ARGUMENT…]`.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Checks, session } from './checks.mjs';

const [command, ...args] = process.argv.slice(2);
const checks = new Checks('typescript-1');
const client = new Client({ name: 'it', version: '0' });
await session(checks, {
    client,
    transport: new StdioClientTransport({ command, args }),
    callTool: (params, options) => client.callTool(params, undefined, options),
});
checks.end();
