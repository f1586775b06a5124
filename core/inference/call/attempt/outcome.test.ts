import { expect, test } from 'vitest';
import { redact } from './outcome.ts';

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
