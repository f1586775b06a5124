// Rows of docs/compatibility.md about whose call it is, and preferences that one provider knows.
import { exact, lost, tools } from '../say.ts';
import { asked, type Feature, type Group } from '../types.ts';

const user: Feature = {
  name: 'end user',
  says: {
    chat: asked('`user`, `safety_identifier`', { safety_identifier: 'ann@example.com' }),
    responses: asked('`user`, `safety_identifier`', { safety_identifier: 'ann@example.com' }),
    messages: asked('`metadata.user_id`', { metadata: { user_id: 'ann@example.com' } }),
    completions: asked('`user`', { user: 'ann@example.com' }),
    native: asked('`user`', { user: 'ann@example.com' }),
  },
  at: {
    openai_chat: exact({ safety_identifier: 'hmac-of-user' }, { gone: ['ann@'], as: 'as HMAC' }),
    openai_responses: exact({ safety_identifier: 'hmac-of-user' }, { gone: ['ann@'], as: 'as HMAC' }),
    anthropic_messages: exact({ metadata: { user_id: 'hmac-of-user' } }, { gone: ['ann@'], as: 'as HMAC' }),
    gemini: lost('hint:user_dropped', { gone: ['ann@', 'hmac'] }),
    bedrock_converse: lost('hint:user_dropped', { gone: ['ann@', 'hmac'] }),
  },
};

const metadata: Feature = {
  name: 'your own metadata',
  says: {
    chat: asked('`metadata`, `svc.metadata`', { metadata: { team: 'blue-7' } }),
    responses: asked('`metadata`, `svc.metadata`', { metadata: { team: 'blue-7' } }),
    messages: asked('`svc.metadata`', { svc: { metadata: { team: 'blue-7' } } }),
    completions: asked('`metadata`, `svc.metadata`', { metadata: { team: 'blue-7' } }),
    native: asked('`metadata`', { metadata: { team: 'blue-7' } }),
  },
  at: {
    openai_chat: { gone: ['blue-7'], as: 'kept here, never sent' },
    openai_responses: { gone: ['blue-7'], as: 'kept here, never sent' },
    anthropic_messages: { gone: ['blue-7'], as: 'kept here, never sent' },
    gemini: { gone: ['blue-7'], as: 'kept here, never sent' },
    bedrock_converse: { gone: ['blue-7'], as: 'kept here, never sent' },
  },
};

const TIER = 'behaviour:service_tier_ignored';

const tier: Feature = {
  name: 'service tier',
  says: {
    chat: asked('`service_tier`', { service_tier: 'flex' }),
    responses: asked('`service_tier`', { service_tier: 'flex' }),
    completions: asked('`service_tier`', { service_tier: 'flex' }),
    native: asked('`service_tier`', { service_tier: 'flex' }),
  },
  at: {
    openai_chat: lost(TIER, { gone: ['flex'], listed: { wire: { service_tier: 'flex' } } }),
    openai_responses: lost(TIER, { gone: ['flex'], listed: { wire: { service_tier: 'flex' } } }),
    anthropic_messages: lost(TIER, { gone: ['flex'], listed: { lost: [TIER] } }),
    gemini: lost(TIER, { gone: ['flex'], listed: { lost: [TIER] } }),
    bedrock_converse: lost(TIER, { gone: ['flex'], listed: { wire: { serviceTier: { type: 'flex' } } } }),
  },
  raw: {
    chat: { lost: [TIER], gone: ['flex'], listed: { wire: { service_tier: 'flex' } } },
    responses: { lost: [TIER], gone: ['flex'], listed: { wire: { service_tier: 'flex' } } },
  },
  note: 'The tier that the provider reports is charged.',
};

const beta: Feature = {
  name: '`anthropic-beta`',
  says: { messages: asked('header', { headers: { 'anthropic-beta': 'shiny-2026-01-01' } }) },
  at: {
    openai_chat: lost('hint:beta_ignored', { gone: ['shiny'] }),
    openai_responses: lost('hint:beta_ignored', { gone: ['shiny'] }),
    anthropic_messages: lost('hint:beta_ignored', { gone: ['shiny'] }),
    gemini: lost('hint:beta_ignored', { gone: ['shiny'] }),
    bedrock_converse: lost('hint:beta_ignored', { gone: ['shiny'] }),
  },
  raw: { messages: { lost: ['hint:beta_ignored'] } },
  note: 'It is sent to endpoints of Anthropic models that list the beta.',
};

const prediction: Feature = {
  name: 'predicted output',
  says: {
    chat: asked('`prediction`', { prediction: { type: 'content', content: 'Hi' } }),
  },
  at: {
    openai_chat: exact({ prediction: { type: 'content', content: 'Hi' } }),
    openai_responses: lost('hint:prediction_dropped', { gone: ['prediction'] }),
    anthropic_messages: lost('hint:prediction_dropped', { gone: ['prediction'] }),
    gemini: lost('hint:prediction_dropped', { gone: ['prediction'] }),
    bedrock_converse: lost('hint:prediction_dropped', { gone: ['prediction'] }),
  },
};

const CONTENT = 'content:unsupported_parameter';

const searching: Feature = {
  name: 'web search by an option of the request',
  says: { chat: asked('`web_search_options`', { web_search_options: {} }) },
  at: {
    openai_chat: lost(CONTENT),
    openai_responses: { lost: [CONTENT], listed: { wire: { tools: [{ type: 'web_search' }] } } },
    anthropic_messages: {
      lost: [CONTENT],
      listed: { wire: { tools: [{ name: 'web_search', max_uses: 5 }] } },
    },
    gemini: { lost: [CONTENT], listed: { wire: { tools: [{ googleSearch: {} }] } } },
    bedrock_converse: lost(CONTENT),
  },
  raw: {
    chat: { lost: [CONTENT], gone: ['web_search'], listed: { wire: { web_search_options: {} } } },
  },
};

const search: Feature = {
  name: 'options that change the content of the answer',
  says: {
    chat: asked('`moderation`', { ...tools.chat, moderation: {} }),
    responses: asked('`max_tool_calls`, `moderation` …', { ...tools.responses, max_tool_calls: 2 }),
    messages: asked('`container`, `mcp_servers` …', {
      mcp_servers: [{ type: 'url', url: 'https://a.example' }],
    }),
  },
  at: {
    openai_chat: lost(CONTENT),
    openai_responses: lost(CONTENT),
    anthropic_messages: lost(CONTENT),
    gemini: lost(CONTENT),
    bedrock_converse: lost(CONTENT),
  },
  raw: {
    chat: { lost: [CONTENT], gone: ['moderation'], listed: { wire: { moderation: {} } } },
    messages: { lost: ['content:beta_member_unsupported'] },
  },
};

const KEPT = 'hint:context_edit_dropped';

const keeping: Feature = {
  name: 'keeping earlier reasoning',
  says: {
    messages: asked('`context_management` of `clear_thinking_20251015`, `keep: all`', {
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    }),
  },
  at: {
    openai_chat: lost(KEPT, { gone: ['context_management'] }),
    openai_responses: lost(KEPT, { gone: ['context_management'] }),
    anthropic_messages: lost(KEPT, { gone: ['context_management'] }),
    gemini: lost(KEPT, { gone: ['context_management'] }),
    bedrock_converse: lost(KEPT, { gone: ['context_management'] }),
  },
  raw: {
    messages: { lost: [KEPT], gone: ['context_management'] },
  },
  note:
    'Edits that remove (`clear_tool_uses_20250919`, `clear_thinking_20251015`) are made by Anthropic where the endpoint lists the ' +
    'beta, and by the gateway everywhere else, which counts four bytes as a token; the answer names them in `applied_edits`. Other edits are ' +
    'refused with their path.',
};

export const account: Group = {
  title: 'End user, metadata and options of one provider',
  features: [user, metadata, tier, beta, prediction, searching, search, keeping],
};
