// The official clients for Python, run as a Python program would run them.
import { ensurePythonClients } from '@svc/cli/tools/python.ts';
import { beforeAll, expect, test } from 'vitest';
import { useGateway } from './gateway.ts';
import { runPython } from './python.ts';

const gateway = useGateway();
let python = '';
beforeAll(async () => {
  python = await ensurePythonClients(() => {});
}, 300_000);

const run = (script: string) => runPython(python, script, [gateway().base_url, gateway().sandbox_key]);

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
