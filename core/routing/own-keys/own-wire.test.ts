// A provider that is called in two ways for one model: each caller gets its own wire, and the other is a way out.
import { expect, test } from 'vitest';
import type { RouteInput } from '../index.ts';
import { endpoint, order, run } from '../test-kit.ts';

const chat = endpoint('host', {
  ...{ id: 'ep_chat', family: 'openai_chat' },
  other_families: ['openai_responses'],
});
const responses = endpoint('host', {
  ...{ id: 'ep_responses', family: 'openai_responses' },
  other_families: ['openai_chat'],
});
const both = [chat, responses];
const speaking = (family: string): Partial<RouteInput> => ({ speaks: (one) => one === family });
const ids = (all: Parameters<typeof run>[0], more: Partial<RouteInput>) =>
  run(all, more).plan.map((item) => item.endpoint.id);

test('the wire of the caller comes first whatever the request, the other is still tried', () => {
  for (let i = 0; i < 20; i++) {
    const request_id = `request ${i}`;
    expect(ids(both, { request_id, ...speaking('openai_chat') })).toEqual(['ep_chat', 'ep_responses']);
    expect(ids(both, { request_id, ...speaking('openai_responses') })).toEqual(['ep_responses', 'ep_chat']);
  }
});

test('callers of a third wire are spread over both, and so is everything where no wire is known', () => {
  const first = (more: Partial<RouteInput>) =>
    new Set(Array.from({ length: 40 }, (_, i) => ids(both, { request_id: `request ${i}`, ...more })[0]));
  expect(first(speaking('anthropic_messages')).size).toBe(2);
  expect(first({}).size).toBe(2);
});

test('another host of the model is no detour, and what the caller orders stands', () => {
  const other = endpoint(
    'other',
    { family: 'openai_responses', upstream_model: 'm' },
    { input: 1, output: 1 },
  );
  expect(order(run([chat, other], speaking('openai_chat')))[0]).toBe('other');
  const preferences = { endpoints: { order: ['ep_responses'] } };
  expect(ids(both, { preferences, ...speaking('openai_chat') })).toEqual(['ep_responses', 'ep_chat']);
});

test('a search runs where it can, though it is not the wire of the caller', () => {
  const dropped = {
    class: 'behaviour' as const,
    code: 'server_tool_dropped',
    param: 'tools[0]',
    message: '',
  };
  const losses: RouteInput['losses'] = (one) => (one.id === 'ep_chat' ? [dropped] : []);
  expect(ids(both, { losses, ...speaking('openai_chat') })).toEqual(['ep_responses', 'ep_chat']);
});
