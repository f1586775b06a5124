// What of a request its organization's log keeps.
import { expect, test } from 'vitest';
import { chat } from '../../formats/openai-chat/caller/index.ts';
import { storedText } from './content.ts';

const body = {
  model: 'openai/gpt-4o-mini',
  messages: [{ role: 'user', content: 'What is asked' }],
  temperature: 0.5,
  user: 'end-user-17',
  prompt_cache_key: 'key-of-user-17',
};

test('what is asked is stored, and neither the end user nor what the gateway adds', () => {
  const stored = JSON.parse(storedText(chat.read(body, { 'x-svc-app': 'desk' }))) as Record<string, unknown>;
  expect(stored).toMatchObject({
    model: 'openai/gpt-4o-mini',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'What is asked' }] }],
    generation: { temperature: 0.5 },
  });
  for (const name of ['svc', 'user', 'cache', 'warnings', 'anthropic', 'echo'])
    expect(stored).not.toHaveProperty(name);
  expect(JSON.stringify(stored)).not.toMatch(/user-17|desk/);
});

test('a member that is not listed is not stored, whatever it is named', () => {
  const request = Object.assign(chat.read(body, {}), { origin: 'a new member', constructor: 'another' });
  const stored = storedText(request);
  expect(stored).toContain('What is asked');
  expect(stored).not.toMatch(/a new member|another/);
});
