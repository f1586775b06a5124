// The official clients for Python, run as a Python program would run them.
import { spawn } from 'node:child_process';
import { ensurePythonClients } from '@svc/cli/tools/python.ts';
import { beforeAll, expect, test } from 'vitest';
import { useGateway } from './gateway.ts';

const gateway = useGateway();
let python = '';
beforeAll(async () => {
  python = await ensurePythonClients(() => {});
}, 300_000);

/** What a script printed. @throws Error with its traceback when it failed. */
function run(script: string): Promise<Record<string, unknown>> {
  const file = new URL(`./python/${script}`, import.meta.url).pathname;
  const child = spawn(python, [file, gateway().base_url, gateway().sandbox_key], {
    env: { PATH: process.env['PATH'] ?? '', NO_PROXY: '127.0.0.1' },
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (piece) => {
    output += piece;
  });
  child.stderr.on('data', (piece) => {
    errors += piece;
  });
  return new Promise((resolve, reject) => {
    child.once('close', (code) =>
      code === 0
        ? resolve(JSON.parse(output) as Record<string, unknown>)
        : reject(new Error(`${script} ended with ${code}:\n${errors}`)),
    );
  });
}

test('the OpenAI client for Python sees answers, streams, tools, errors, models and costs', async () => {
  const said = await run('openai_client.py');
  expect(said).toMatchObject({
    text: expect.stringContaining('rain on the river'),
    streamed: expect.stringContaining('a stream of rain'),
    tool: 'get_weather',
    tool_arguments: { city: expect.any(String) },
    request_id_matches: true,
    not_found_code: 'model_not_found',
    stream_error: expect.any(String),
    models: true,
  });
  expect(said['cost']).toBeGreaterThan(0);
  expect(said['stream_cost']).toBeGreaterThan(0);
  expect(said['output_tokens']).toBeGreaterThan(0);
});

test('the Anthropic client for Python sees answers, streams, tools, errors, models and costs', async () => {
  const said = await run('anthropic_client.py');
  expect(said).toMatchObject({
    text: expect.stringContaining('rain on the river'),
    streamed: expect.stringContaining('a stream of rain'),
    stop_reason: 'end_turn',
    final_has_svc: true,
    tool: 'get_weather',
    tool_arguments: { city: expect.any(String) },
    request_id_matches: true,
    not_found_type: 'not_found_error',
    stream_error: true,
    models: true,
  });
  expect(said['cost']).toBeGreaterThan(0);
});
