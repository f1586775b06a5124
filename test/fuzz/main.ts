// `make fuzz-api`: Schemathesis makes valid and invalid requests from the OpenAPI document and checks a gateway's answers
// against it: no valid request is refused, no invalid one accepted, no status and no body comes that is not described, and
// nothing ends with 500. The seed is fixed, so two runs send the same; `SEED=n`, `EXAMPLES=n` and `SECONDS=n` send others and more.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensurePythonClients } from '@svc/cli/tools/python.ts';
import { migrate } from '@svc/core/db/index.ts';
import { startGatewayProcess } from '../support/gateway.ts';
import { startTestPostgres } from '../support/postgres.ts';
import { provision } from '../support/provision.ts';

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    examples: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '60' },
    /** Of the operation ids: those that are tried. */
    only: { type: 'string', default: '.*' },
  },
});

/**
 * What a valid request may be answered with beside success: who asks may lack a right or a session, an object may not be
 * there or not allow it, a key of idempotency may have been used before, and no payment rail is set up here.
 */
const CONFIG = `
[checks.positive_data_acceptance]
expected-statuses = ["2xx", 401, 402, 403, 404, 409, 422, 429, 503]
[checks.negative_data_rejection]
expected-statuses = ["4xx"]
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 503]
`;
const CHECKS = ['not_a_server_error', 'status_code_conformance', 'content_type_conformance'];
/**
 * Not of calls. What the document does not name goes up as it is where the provider speaks the format, so it is not
 * refused. What is valid by itself may break a rule over several messages (the document's introduction names them). And
 * of events Schemathesis wants the schema of a line, where ours is that of its data, as test/answers checks it.
 */
const RULED_CHECKS = [...CHECKS, 'response_schema_conformance', 'negative_data_rejection'];
const MANAGEMENT_CHECKS = [...RULED_CHECKS, 'positive_data_acceptance'];
/**
 * Operations with rules that no schema can say, so their descriptions do: a date lies ahead, a sum is one that the
 * payment rail takes, one member needs another. A valid request to them may be refused.
 */
const RULED = [
  'credits\\.topups\\.(?:quote|create)',
  'usage\\.get',
  'requests\\.list',
  'keys\\.(?:update|create)',
  'orgs\\.update',
  'policies\\.(?:versions\\.)?create',
];
const ruled = `(?:${RULED.join('|')})$`;

const dir = mkdtempSync(join(tmpdir(), 'svc-fuzz-'));

/** Runs Schemathesis over operations whose id matches `ids`; its exit code. */
async function fuzz(args: {
  readonly python: string;
  readonly config: string;
  readonly url: string;
  readonly key: string;
  readonly ids: string;
  readonly checks: readonly string[];
}): Promise<number> {
  const child = spawn(
    args.python,
    [
      ...['-m', 'schemathesis.cli', '--config-file', args.config, 'run', `${args.url}/openapi.json`],
      ...['--url', args.url, '--header', `authorization: Bearer ${args.key}`],
      ...['--include-operation-id-regex', args.ids, '--mode', 'all', '--phases', 'examples,coverage,fuzzing'],
      ...[
        '--generation-with-security-parameters',
        'false',
        '--generation-allow-x00',
        'false',
        '--generation-database',
        'none',
      ],
      ...['--max-time', options.seconds],
      ...['--checks', args.checks.join(','), '--seed', options.seed, '--max-examples', options.examples],
      ...[
        '--workers',
        '1',
        '--suppress-health-check',
        'all',
        '--continue-on-failure',
        '--no-color',
        '--request-timeout',
        '20',
      ],
    ],
    // It keeps what it found beside itself.
    { stdio: 'inherit', cwd: dir },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

const python = await ensurePythonClients((message) => process.stdout.write(`${message}\n`), 'fuzzer');
const server = await startTestPostgres({ dir, settings: { fsync: 'off' } });
try {
  const database_url = server.urlOf('postgres');
  await migrate(database_url);
  const org = await provision({ database_url, live_micro_usd: 1_000_000_000 });
  const gateway = await startGatewayProcess({ database_url });
  const config = join(dir, 'schemathesis.toml');
  writeFileSync(config, CONFIG);
  const run = { python, config, url: gateway.base_url };
  // Models are answered in process; the rest is asked with a live key.
  const calls = '(?:chat|messages|responses|completions|embeddings|svc)\\.';
  const management = { ...run, key: org.live_key };
  const codes = [
    await fuzz({ ...run, key: org.sandbox_key, ids: `^(?=${calls})${options.only}`, checks: CHECKS }),
    await fuzz({ ...management, ids: `^(?=${ruled})${options.only}`, checks: RULED_CHECKS }),
    await fuzz({ ...management, ids: `^(?!${calls}|${ruled})${options.only}`, checks: MANAGEMENT_CHECKS }),
  ];
  process.exitCode = Math.max(...codes);
  await gateway.stop();
} finally {
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
}
