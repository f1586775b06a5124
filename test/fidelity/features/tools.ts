// Rows of docs/compatibility.md about tools, calls and their results.
import { declared, exact, lost, SCHEMA, tool, tools } from '../say.ts';
import { asked, type Feature, type Group, type Json } from '../types.ts';
import { calls } from './calls.ts';

const declare: Feature = {
  name: 'tool with a JSON schema',
  says: {
    chat: asked('`tools`', tools.chat),
    responses: asked('`tools` (flat)', tools.responses),
    messages: asked('`tools`', tools.messages),
    native: asked('`tools`', tools.native),
  },
  at: {
    openai_chat: exact(declared.openai_chat),
    openai_responses: exact(declared.openai_responses),
    anthropic_messages: exact(declared.anthropic_messages),
    gemini: exact(declared.gemini),
    bedrock_converse: exact(declared.bedrock_converse),
  },
};

const strict: Feature = {
  name: '`strict` of a tool',
  says: {
    chat: asked('`strict`', {
      tools: [{ type: 'function', function: { ...tool.chat.function, strict: true } }],
    }),
    responses: asked('`strict`', { tools: [{ ...tool.responses, strict: true }] }),
    messages: asked('`strict`', { tools: [{ ...tool.messages, strict: true }] }),
    native: asked('`strict`', { tools: [{ ...tool.native, strict: true }] }),
  },
  at: {
    openai_chat: exact({ tools: [{ function: { strict: true } }] }),
    openai_responses: exact({ tools: [{ strict: true }] }),
    anthropic_messages: exact({ tools: [{ strict: true }] }),
    gemini: exact({ toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } } }),
    bedrock_converse: lost('behaviour:strict_dropped', {
      gone: ['strict'],
      listed: { wire: { toolConfig: { tools: [{ toolSpec: { strict: true } }] } } },
    }),
  },
  note: 'At `gemini` all tools must be strict, or the answer has the warning `strict_dropped`.',
};

interface Choice {
  readonly name: string;
  readonly says: { chat: unknown; responses: unknown; messages: Json; native: Json };
  readonly at: {
    openai_chat: Json;
    openai_responses: Json;
    anthropic_messages: Json;
    gemini: string;
    bedrock: Json;
  };
}

function choice({ name, says, at }: Choice): Feature {
  const mode = at.gemini === 'look' ? { mode: 'ANY', allowedFunctionNames: ['look'] } : { mode: at.gemini };
  return {
    name,
    says: {
      chat: asked('`tool_choice`', { ...tools.chat, tool_choice: says.chat }),
      responses: asked('`tool_choice`', { ...tools.responses, tool_choice: says.responses }),
      messages: asked('`tool_choice`', { ...tools.messages, tool_choice: says.messages }),
      native: asked('`tool_choice`', { ...tools.native, tool_choice: says.native }),
    },
    at: {
      openai_chat: exact(at.openai_chat),
      openai_responses: exact(at.openai_responses),
      anthropic_messages: exact(at.anthropic_messages),
      gemini: exact({ toolConfig: { functionCallingConfig: mode } }),
      bedrock_converse:
        at.bedrock['none'] === true
          ? { gone: ['toolConfig'], as: 'tools left out' }
          : exact({ toolConfig: { toolChoice: at.bedrock } }),
    },
  };
}

const choices = [
  choice({
    name: 'choice of tools: auto',
    says: { chat: 'auto', responses: 'auto', messages: { type: 'auto' }, native: { type: 'auto' } },
    at: {
      openai_chat: { tool_choice: 'auto' },
      openai_responses: { tool_choice: 'auto' },
      anthropic_messages: { tool_choice: { type: 'auto' } },
      gemini: 'AUTO',
      bedrock: { auto: {} },
    },
  }),
  choice({
    name: 'choice of tools: none',
    says: { chat: 'none', responses: 'none', messages: { type: 'none' }, native: { type: 'none' } },
    at: {
      openai_chat: { tool_choice: 'none' },
      openai_responses: { tool_choice: 'none' },
      anthropic_messages: { tool_choice: { type: 'none' } },
      gemini: 'NONE',
      bedrock: { none: true },
    },
  }),
  choice({
    name: 'choice of tools: at least one call',
    says: {
      chat: 'required',
      responses: 'required',
      messages: { type: 'any' },
      native: { type: 'required' },
    },
    at: {
      openai_chat: { tool_choice: 'required' },
      openai_responses: { tool_choice: 'required' },
      anthropic_messages: { tool_choice: { type: 'any' } },
      gemini: 'ANY',
      bedrock: { any: {} },
    },
  }),
  choice({
    name: 'choice of tools: one named tool',
    says: {
      chat: { type: 'function', function: { name: 'look' } },
      responses: { type: 'function', name: 'look' },
      messages: { type: 'tool', name: 'look' },
      native: { type: 'tool', name: 'look' },
    },
    at: {
      openai_chat: { tool_choice: { type: 'function', function: { name: 'look' } } },
      openai_responses: { tool_choice: { type: 'function', name: 'look' } },
      anthropic_messages: { tool_choice: { type: 'tool', name: 'look' } },
      gemini: 'look',
      bedrock: { tool: { name: 'look' } },
    },
  }),
];

const allowedChat = { mode: 'auto', tools: [{ type: 'function', function: { name: 'look' } }] };
const allowedItem = { mode: 'auto', tools: [{ type: 'function', name: 'look' }] };
const hear = { name: 'hear', parameters: SCHEMA };

const allowed: Feature = {
  name: 'choice among some of the tools',
  says: {
    chat: asked('`allowed_tools`', {
      tools: [tool.chat, { type: 'function', function: hear }],
      tool_choice: { type: 'allowed_tools', allowed_tools: allowedChat },
    }),
    responses: asked('`allowed_tools`', {
      tools: [tool.responses, { type: 'function', ...hear }],
      tool_choice: { type: 'allowed_tools', ...allowedItem },
    }),
    native: asked('`names`', {
      tools: [tool.native, { name: 'hear', schema: SCHEMA }],
      tool_choice: { type: 'auto', names: ['look'] },
    }),
  },
  at: {
    openai_chat: exact({ tool_choice: { type: 'allowed_tools', allowed_tools: allowedChat } }),
    openai_responses: exact({ tool_choice: { type: 'allowed_tools', ...allowedItem } }),
    anthropic_messages: exact({ tools: [{ name: 'look' }] }, { gone: ['hear'], as: 'the others left out' }),
    gemini: { ...exact(declared.gemini), gone: ['hear'], as: 'the others left out' },
    bedrock_converse: { ...exact(declared.bedrock_converse), gone: ['hear'], as: 'the others left out' },
  },
};

const serial: Feature = {
  name: 'one call at a time',
  says: {
    chat: asked('`parallel_tool_calls: false`', { ...tools.chat, parallel_tool_calls: false }),
    responses: asked('`parallel_tool_calls: false`', { ...tools.responses, parallel_tool_calls: false }),
    messages: asked('`disable_parallel_tool_use`', {
      ...tools.messages,
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    }),
    native: asked('`parallel_tools: false`', { ...tools.native, parallel_tools: false }),
  },
  at: {
    openai_chat: exact({ parallel_tool_calls: false }),
    openai_responses: exact({ parallel_tool_calls: false }),
    anthropic_messages: exact({ tool_choice: { disable_parallel_tool_use: true } }),
    gemini: lost('behaviour:parallel_dropped'),
    bedrock_converse: exact({
      additionalModelRequestFields: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    }),
  },
  note: 'At `bedrock_converse` this is so for models of Anthropic; for others the answer has the warning `parallel_dropped`.',
};

const run = { type: 'custom', name: 'run', description: 'Runs.' };
const EMULATED = 'behaviour:custom_tool_emulated';
const input = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] };

const custom: Feature = {
  name: 'tool that takes free text',
  says: {
    chat: asked('`custom`', { tools: [{ type: 'custom', custom: { name: 'run', description: 'Runs.' } }] }),
    responses: asked('`custom`', { tools: [run] }),
    native: asked('kind `custom`', { tools: [{ kind: 'custom', name: 'run', description: 'Runs.' }] }),
  },
  at: {
    openai_chat: exact({ tools: [{ type: 'custom', custom: { name: 'run' } }] }),
    openai_responses: exact({ tools: [run] }),
    anthropic_messages: lost(EMULATED, { wire: { tools: [{ name: 'run', input_schema: input }] } }),
    gemini: lost(EMULATED, {
      wire: { tools: [{ functionDeclarations: [{ name: 'run', parametersJsonSchema: input }] }] },
    }),
    bedrock_converse: lost(EMULATED, {
      wire: { toolConfig: { tools: [{ toolSpec: { name: 'run', inputSchema: { json: input } } }] } },
    }),
  },
};

const lark = { syntax: 'lark', definition: 'start: "a"' };
const GRAMMAR = 'content:custom_tool_grammar';

const grammar: Feature = {
  name: 'tool whose text follows a grammar',
  says: {
    chat: asked('`custom.format`', {
      tools: [{ type: 'custom', custom: { name: 'run', format: { type: 'grammar', grammar: lark } } }],
    }),
    responses: asked('`format`', { tools: [{ ...run, format: { type: 'grammar', ...lark } }] }),
  },
  at: {
    openai_chat: exact({
      tools: [{ type: 'custom', custom: { format: { type: 'grammar', grammar: lark } } }],
    }),
    openai_responses: exact({ tools: [{ type: 'custom', format: { type: 'grammar', ...lark } }] }),
    anthropic_messages: lost(GRAMMAR),
    gemini: lost(GRAMMAR),
    bedrock_converse: lost(GRAMMAR),
  },
};

const UNLISTED = 'behaviour:server_tool_dropped';

const search: Feature = {
  name: 'web search',
  says: {
    responses: asked('`web_search`', { tools: [{ type: 'web_search' }] }),
    messages: asked('`web_search_20250305`', {
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    }),
  },
  at: {
    openai_chat: { lost: [UNLISTED], listed: { wire: { web_search_options: {} } } },
    openai_responses: { lost: [UNLISTED], listed: { wire: { tools: [{ type: 'web_search' }] } } },
    anthropic_messages: {
      lost: [UNLISTED],
      listed: { wire: { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 5 }] } },
    },
    gemini: { lost: [UNLISTED], listed: { wire: { tools: [{ googleSearch: {} }] } } },
    bedrock_converse: lost(UNLISTED),
  },
  raw: {
    responses: { lost: [UNLISTED], listed: { wire: { tools: [{ type: 'web_search' }] } } },
    messages: { lost: [UNLISTED], listed: { wire: { tools: [{ name: 'web_search' }] } } },
  },
  note:
    'It runs on endpoints that list `web_search` with a price for `search_unit`; chat asks for it by ' +
    '`web_search_options`. Gemini models search or call functions, not both.',
};

const sites: Feature = {
  name: 'web search restricted to sites',
  says: {
    responses: asked('`filters.allowed_domains`', {
      tools: [{ type: 'web_search', filters: { allowed_domains: ['a.example'] } }],
    }),
    messages: asked('`allowed_domains`', {
      tools: [{ type: 'web_search_20250305', name: 'web_search', allowed_domains: ['a.example'] }],
    }),
  },
  at: {
    openai_chat: { lost: [UNLISTED], listed: { lost: ['content:search_domains_unsupported'] } },
    openai_responses: {
      lost: [UNLISTED],
      listed: { wire: { tools: [{ filters: { allowed_domains: ['a.example'] } }] } },
    },
    anthropic_messages: {
      lost: [UNLISTED],
      listed: { wire: { tools: [{ allowed_domains: ['a.example'] }] } },
    },
    gemini: { lost: [UNLISTED], listed: { lost: ['content:search_domains_unsupported'] } },
    bedrock_converse: lost(UNLISTED),
  },
  raw: {
    responses: { lost: [UNLISTED], listed: { wire: { tools: [{ type: 'web_search' }] } } },
    messages: { lost: [UNLISTED], listed: { wire: { tools: [{ name: 'web_search' }] } } },
  },
};

const server: Feature = {
  name: 'a provider’s own tool of another family',
  says: {
    responses: asked('`code_interpreter` …', { tools: [{ type: 'code_interpreter' }] }),
    messages: asked('`web_fetch_20250910` …', {
      tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }],
    }),
  },
  at: {
    openai_chat: lost(UNLISTED),
    openai_responses: lost(UNLISTED),
    anthropic_messages: lost(UNLISTED),
    gemini: lost(UNLISTED),
    bedrock_converse: lost(UNLISTED),
  },
  raw: {
    responses: { lost: [UNLISTED], listed: { wire: { tools: [{ type: 'code_interpreter' }] } } },
    messages: { lost: [UNLISTED], listed: { wire: { tools: [{ name: 'web_fetch' }] } } },
  },
  note:
    'At its own family it runs on endpoints that list it with a price for its unit. Endpoints that run every tool that is offered ' +
    'come first. One that `tool_choice` forces is refused where none runs it (`server_tool`, `server_tool_unsupported`), and so ' +
    'is a toolset that the caller itself runs (`bash_20250124`, `local_shell`).',
};

const option: Feature = {
  name: 'options of one provider’s tools',
  says: { messages: asked('`defer_loading` …', { tools: [{ ...tool.messages, defer_loading: true }] }) },
  at: {
    openai_chat: lost('hint:tool_option_dropped', { gone: ['defer_loading'] }),
    openai_responses: lost('hint:tool_option_dropped', { gone: ['defer_loading'] }),
    anthropic_messages: exact({ tools: [{ defer_loading: true }] }),
    gemini: lost('hint:tool_option_dropped', { gone: ['defer_loading'] }),
    bedrock_converse: lost('hint:tool_option_dropped', { gone: ['defer_loading'] }),
  },
};

export const toolGroup: Group = {
  title: 'Tools',
  features: [
    declare,
    strict,
    ...choices,
    allowed,
    serial,
    custom,
    grammar,
    ...calls,
    search,
    sites,
    server,
    option,
  ],
};
