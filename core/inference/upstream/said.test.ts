import { expect, test } from 'vitest';
import { redact, saidOf, secretParts } from './said.ts';

test('keys, account ids and addresses of a provider’s text never reach a caller', () => {
  const secrets = [
    'arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.x',
    'AKIAIOSFODNN7EXAMPLE',
    'ABSKQmVkcm9ja0FQSUtleS1hYmM=',
    'sk-proj-abcdefgh1234',
    'https://internal.example/x?token=1',
    '7f3f2c1e-0000-4000-8000-123456789abc',
  ];
  for (const secret of secrets) {
    const clean = redact(`The model ${secret} is not ready.`);
    expect(clean).not.toContain(secret.slice(0, 14));
    expect(clean).toMatch(/^The model \[redacted\] is not ready\.$/);
  }
  expect(redact('messages.0: the text of 128000 tokens is blank')).toBe(
    'messages.0: the text of 128000 tokens is blank',
  );
});

test.each([
  ['OpenAI', { error: { message: 'Incorrect API key provided.', code: 'invalid_api_key' } }],
  [
    'Anthropic',
    { type: 'error', error: { type: 'authentication_error', message: 'Incorrect API key provided.' } },
  ],
  ['Gemini', [{ error: { code: 400, message: 'Incorrect API key provided.' } }]],
  ['Cohere and AWS', { message: 'Incorrect API key provided.' }],
  ['AWS at times', { Message: 'Incorrect API key provided.' }],
  ['a word beside a sentence', { error: 'unauthorized', message: 'Incorrect API key provided.' }],
  ['a sentence alone', { error: 'Incorrect API key provided.' }],
  ['FastAPI', { detail: [{ loc: ['header'], msg: 'Incorrect API key provided.' }] }],
  ['several lines, and what turns the direction', { message: 'Incorrect\n API\u202e key\tprovided. ' }],
] as const)('the sentence of a refusal is found: %s', (_who, body) => {
  expect(saidOf(JSON.stringify(body), 'sk-0123456789')).toBe('Incorrect API key provided.');
});

test('what a provider repeats of the key is taken out of its sentence, whole and in its parts', () => {
  const secret = 'AKIAPLANTED00000:very/secret+one';
  const message = `Not ${secret}, nor very/secret+one. See https://host.example/keys.`;
  const said = saidOf(JSON.stringify({ message }), secret) as string;
  expect(said).not.toMatch(/PLANTED|secret|host/);
  expect(said).toMatch(/^Not \[redacted\], nor \[redacted\]\./);
  expect(secretParts('')).toEqual([]);
});

test('a page, numbers and depths without end say nothing, and a long sentence is cut', () => {
  const deep = `${'{"error":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
  for (const body of ['', '<html>no</html>', '{"message":', '7', '{"message":7}', '{"error":{}}', deep])
    expect(saidOf(body, 'sk-0123456789')).toBeNull();
  expect(saidOf(JSON.stringify({ message: 'no '.repeat(9_000) }), 'sk-0123456789')).toHaveLength(2_001);
});
