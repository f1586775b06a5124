// Rows of docs/compatibility.md about reasoning preferences, reasoning in the history, and caches.
import { exact, lost } from '../say.ts';
import { asked, type Feature, type Group, type Json } from '../types.ts';

const effort: Feature = {
  name: 'effort',
  says: {
    chat: asked('`reasoning_effort`, `reasoning.effort`', { reasoning_effort: 'high' }),
    responses: asked('`reasoning.effort`', { reasoning: { effort: 'high' } }),
    messages: asked('`output_config.effort`', {
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
    }),
    native: asked('`reasoning.effort`', { reasoning: { effort: 'high' } }),
  },
  at: {
    openai_chat: exact({ reasoning_effort: 'high' }),
    openai_responses: exact({ reasoning: { effort: 'high' } }),
    // 80 % of the cap, OpenRouter's ratio.
    anthropic_messages: exact(
      { thinking: { type: 'enabled', budget_tokens: 3_276 } },
      { as: 'as budget, or as effort where the model takes one' },
    ),
    gemini: exact({ generationConfig: { thinkingConfig: { thinkingLevel: 'HIGH' } } }),
    bedrock_converse: exact(
      { additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 3_276 } } },
      { as: 'as budget, or as effort where the model takes one' },
    ),
  },
};

const budget: Feature = {
  name: 'budget of tokens',
  says: {
    chat: asked('`reasoning.max_tokens`, `thinking`', {
      thinking: { type: 'enabled', budget_tokens: 2_000 },
    }),
    messages: asked('`thinking.budget_tokens`', { thinking: { type: 'enabled', budget_tokens: 2_000 } }),
    native: asked('`reasoning.max_tokens`', { reasoning: { max_tokens: 2_000 } }),
  },
  at: {
    openai_chat: exact({ reasoning_effort: 'medium' }, { as: 'as effort' }),
    openai_responses: exact({ reasoning: { effort: 'medium' } }, { as: 'as effort' }),
    anthropic_messages: exact({ thinking: { type: 'enabled', budget_tokens: 2_000 } }),
    gemini: exact(
      { generationConfig: { thinkingConfig: { thinkingLevel: 'MEDIUM' } } },
      { as: 'as level, or as budget where the model takes one' },
    ),
    bedrock_converse: exact({
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2_000 } },
    }),
  },
};

const off: Feature = {
  name: 'no reasoning',
  says: {
    chat: asked('`reasoning_effort: none`', { reasoning_effort: 'none' }),
    responses: asked('`reasoning.effort: none`', { reasoning: { effort: 'none' } }),
    messages: asked('`thinking: disabled`', { thinking: { type: 'disabled' } }),
    native: asked('`reasoning.mode: off`', { reasoning: { mode: 'off' } }),
  },
  at: {
    openai_chat: exact({ reasoning_effort: 'none' }),
    openai_responses: exact({ reasoning: { effort: 'none' } }),
    anthropic_messages: exact({ thinking: { type: 'disabled' } }),
    gemini: exact({ generationConfig: { thinkingConfig: { thinkingBudget: 0 } } }),
    bedrock_converse: exact({ additionalModelRequestFields: { thinking: { type: 'disabled' } } }),
  },
  note: 'A model that cannot stop reasoning gets its lowest effort, and the answer has the warning `reasoning_not_disabled`.',
};

const SIGNATURE = 'c2lnbmVkIGJ5IGNsYXVkZQ==';
const thinking = { type: 'thinking', thinking: 'Sea is wide.', signature: SIGNATURE };
const detail = {
  type: 'reasoning.text',
  text: 'Sea is wide.',
  signature: SIGNATURE,
  format: 'anthropic-claude-v1',
};
const part = {
  ...{ type: 'reasoning', kind: 'full', text: 'Sea is wide.' },
  ...{ signature: SIGNATURE, format: 'anthropic-claude-v1' },
};
const said = { type: 'text', text: 'Wide.' };
const ask = { role: 'user', content: 'How?' };
const again = { role: 'user', content: 'Sure?' };
const DROPPED = 'hint:reasoning_signature_dropped';

function history(answer: Json): Json {
  return { messages: [ask, answer, again] };
}

const signed: Feature = {
  name: 'signed reasoning of an earlier turn (here: of an Anthropic model)',
  says: {
    chat: asked(
      '`reasoning_details`',
      history({ role: 'assistant', content: 'Wide.', reasoning_details: [detail] }),
    ),
    messages: asked('`thinking`', history({ role: 'assistant', content: [thinking, said] })),
    native: asked('part `reasoning`', history({ role: 'assistant', content: [part, said] })),
  },
  at: {
    openai_chat: lost(DROPPED, { gone: [SIGNATURE, 'Sea is wide'], listed: { lost: [DROPPED] } }),
    openai_responses: lost(DROPPED, { gone: [SIGNATURE] }),
    anthropic_messages: exact({ messages: [{}, { content: [thinking, said] }, {}] }),
    gemini: lost(DROPPED, { gone: [SIGNATURE] }),
    bedrock_converse: exact({
      messages: [
        {},
        {
          content: [
            { reasoningContent: { reasoningText: { text: 'Sea is wide.', signature: SIGNATURE } } },
            { text: 'Wide.' },
          ],
        },
        {},
      ],
    }),
  },
  note: 'A signature is sent only to endpoints of the format that made it; see “Reasoning across turns”.',
};

const unsigned: Feature = {
  name: 'reasoning of an earlier turn without a signature',
  says: {
    chat: asked(
      '`reasoning_content`',
      history({ role: 'assistant', content: 'Wide.', reasoning_content: 'Sea is wide.' }),
    ),
    native: asked(
      'part `reasoning`',
      history({ role: 'assistant', content: [{ type: 'reasoning', text: 'Sea is wide.' }, said] }),
    ),
  },
  at: {
    openai_chat: lost(DROPPED, {
      gone: ['Sea is wide'],
      listed: { wire: { messages: [{}, { reasoning_content: 'Sea is wide.' }, {}] } },
    }),
    openai_responses: lost(DROPPED, { gone: ['Sea is wide'] }),
    anthropic_messages: lost(DROPPED, { gone: ['Sea is wide'] }),
    gemini: lost(DROPPED, { gone: ['Sea is wide'] }),
    bedrock_converse: lost(DROPPED, { gone: ['Sea is wide'] }),
  },
};

export const reasoning: Group = {
  title: 'Reasoning',
  features: [effort, budget, off, signed, unsigned],
};

const marked = { type: 'text', text: 'Long.', cache_control: { type: 'ephemeral', ttl: '1h' } };
const HINT = 'hint:cache_hint_dropped';

const breakpoint: Feature = {
  name: 'breakpoint, with a lifetime',
  says: {
    chat: asked('`cache_control`', { messages: [{ role: 'user', content: [marked] }] }),
    messages: asked('`cache_control`', { messages: [{ role: 'user', content: [marked] }] }),
    native: asked('`cache`', {
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Long.', cache: { ttl: '1h' } }] }],
    }),
  },
  at: {
    openai_chat: {
      wire: { messages: [{ content: 'Long.' }] },
      as: 'caches automatically',
      listed: { wire: { messages: [{ content: [{ prompt_cache_breakpoint: { mode: 'explicit' } }] }] } },
    },
    openai_responses: {
      wire: { input: [{}] },
      as: 'caches automatically',
      listed: { wire: { input: [{ content: [{ prompt_cache_breakpoint: { mode: 'explicit' } }] }] } },
    },
    anthropic_messages: exact({ messages: [{ content: [marked] }] }),
    gemini: lost(HINT, { gone: ['cache'] }),
    bedrock_converse: exact({
      messages: [{ content: [{ text: 'Long.' }, { cachePoint: { type: 'default', ttl: '1h' } }] }],
    }),
  },
};

const key: Feature = {
  name: 'cache key',
  says: {
    chat: asked('`prompt_cache_key`', { prompt_cache_key: 'tenant-7' }),
    responses: asked('`prompt_cache_key`', { prompt_cache_key: 'tenant-7' }),
    completions: asked('`prompt_cache_key`', { prompt_cache_key: 'tenant-7' }),
    native: asked('`cache.key`', { cache: { key: 'tenant-7' } }),
  },
  at: {
    openai_chat: exact({ prompt_cache_key: 'hmac-of-key' }, { gone: ['tenant-7'], as: 'as HMAC' }),
    openai_responses: exact({ prompt_cache_key: 'hmac-of-key' }, { gone: ['tenant-7'], as: 'as HMAC' }),
    anthropic_messages: { gone: ['tenant-7', 'hmac'], as: 'for routing only' },
    gemini: { gone: ['tenant-7', 'hmac'], as: 'for routing only' },
    bedrock_converse: { gone: ['tenant-7', 'hmac'], as: 'for routing only' },
  },
};

const retention: Feature = {
  name: 'retention of an automatic cache',
  says: {
    chat: asked('`prompt_cache_retention`', { prompt_cache_retention: '24h' }),
    responses: asked('`prompt_cache_retention`', { prompt_cache_retention: '24h' }),
    native: asked('`cache.ttl`', { cache: { ttl: '24h' } }),
  },
  at: {
    openai_chat: { as: 'caches automatically', listed: { lost: [HINT] } },
    openai_responses: { as: 'caches automatically', listed: { lost: [HINT] } },
    anthropic_messages: exact(
      { cache_control: { type: 'ephemeral', ttl: '1h' } },
      { as: 'longest lifetime' },
    ),
    gemini: lost(HINT),
    bedrock_converse: exact(
      { messages: [{ content: [{}, { cachePoint: { type: 'default', ttl: '1h' } }] }] },
      { as: 'longest lifetime' },
    ),
  },
};

export const cache: Group = { title: 'Prompt caches', features: [breakpoint, key, retention] };
