// Rows of docs/compatibility.md about who says what, and in which order.
import { exact, lost, sent, turn } from '../say.ts';
import { asked, type Feature, type Group } from '../types.ts';

const brief = { type: 'text', text: 'Be brief.' };
const text = (said: string) => ({ type: 'text', text: said });
const MOVED = 'behaviour:system_position_changed';

const system: Feature = {
  name: 'instructions before the first turn',
  says: {
    chat: asked('role `system`', {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
    }),
    responses: asked('`instructions`', { instructions: 'Be brief.' }),
    messages: asked('`system`', { system: [brief] }),
    native: asked('role `system`', {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
    }),
  },
  at: {
    openai_chat: exact({ messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user' }] }),
    openai_responses: exact({ instructions: 'Be brief.' }),
    anthropic_messages: exact({ system: [brief], messages: [{ role: 'user' }] }),
    gemini: exact({ systemInstruction: { parts: [{ text: 'Be brief.' }] } }),
    bedrock_converse: exact({ system: [{ text: 'Be brief.' }] }),
  },
};

const developer: Feature = {
  name: 'role `developer`',
  says: {
    chat: asked('role `developer`', {
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
    }),
    responses: asked('role `developer`', {
      input: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
    }),
  },
  at: {
    openai_chat: exact({ messages: [{ role: 'developer', content: 'Be brief.' }, { role: 'user' }] }),
    openai_responses: exact({ instructions: 'Be brief.' }),
    anthropic_messages: exact({ system: [brief] }, { as: 'as system' }),
    gemini: exact({ systemInstruction: { parts: [{ text: 'Be brief.' }] } }, { as: 'as system' }),
    bedrock_converse: exact({ system: [{ text: 'Be brief.' }] }, { as: 'as system' }),
  },
};

const laterTurns = [
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content: 'Hello' },
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Go on' },
];

const later: Feature = {
  name: 'instructions between turns',
  says: {
    chat: asked('role `system`', { messages: laterTurns }),
    responses: asked('role `system`', { input: laterTurns }),
    messages: asked('role `system`', { messages: laterTurns }),
    native: asked('role `system`', { messages: laterTurns }),
  },
  at: {
    openai_chat: exact({
      messages: [{ role: 'user' }, { role: 'assistant' }, { role: 'system' }, { role: 'user' }],
    }),
    openai_responses: exact({
      input: [{ role: 'user' }, { role: 'assistant' }, { role: 'developer' }, { role: 'user' }],
    }),
    anthropic_messages: lost(MOVED, {
      wire: {
        messages: [
          { role: 'user' },
          { role: 'assistant' },
          { role: 'user', content: [text('[system]\nBe brief.'), text('Go on')] },
        ],
      },
      listed: {
        wire: { messages: [{ role: 'user' }, { role: 'assistant' }, { role: 'system' }, { role: 'user' }] },
      },
    }),
    gemini: lost(MOVED, {
      wire: {
        contents: [
          { role: 'user' },
          { role: 'model' },
          { role: 'user', parts: [{ text: '[system]\nBe brief.' }, { text: 'Go on' }] },
        ],
      },
    }),
    bedrock_converse: lost(MOVED, {
      wire: {
        messages: [
          { role: 'user' },
          { role: 'assistant' },
          { role: 'user', content: [{ text: '[system]\nBe brief.' }, { text: 'Go on' }] },
        ],
      },
      listed: {
        wire: { messages: [{ role: 'user' }, { role: 'assistant' }, { role: 'system' }, { role: 'user' }] },
      },
    }),
  },
};

const twice = [
  { role: 'user', content: 'One' },
  { role: 'user', content: 'Two' },
];

const adjacent: Feature = {
  name: 'several turns of one role in a row',
  says: {
    chat: asked('`messages`', { messages: twice }),
    responses: asked('`input`', { input: twice }),
    messages: asked('`messages`', { messages: twice }),
    native: asked('`messages`', { messages: twice }),
  },
  at: {
    openai_chat: exact({ messages: [{ role: 'user' }, { role: 'user' }] }),
    openai_responses: exact({ input: [{ role: 'user' }, { role: 'user' }] }),
    anthropic_messages: exact(sent(text('One'), text('Two')), { as: 'merged' }),
    gemini: exact(
      { contents: [{ role: 'user', parts: [{ text: 'One' }, { text: 'Two' }] }] },
      { as: 'merged' },
    ),
    bedrock_converse: exact(sent({ text: 'One' }, { text: 'Two' }), { as: 'merged' }),
  },
};

const named = { messages: [{ role: 'user', name: 'ann', content: 'Hi' }] };

const name: Feature = {
  name: 'name of a speaker',
  says: { chat: asked('`name`', named), native: asked('`name`', named) },
  at: {
    openai_chat: exact({ messages: [{ role: 'user', name: 'ann' }] }),
    openai_responses: lost('hint:name_dropped', { gone: ['ann'] }),
    anthropic_messages: lost('hint:name_dropped', { gone: ['ann'] }),
    gemini: lost('hint:name_dropped', { gone: ['ann'] }),
    bedrock_converse: lost('hint:name_dropped', { gone: ['ann'] }),
  },
};

const begun = [
  { role: 'user', content: 'Count' },
  { role: 'assistant', content: 'One,' },
];
const PREFILL = 'content:prefill_unsupported';

const prefill: Feature = {
  name: 'an answer to continue (the last turn is the model’s)',
  says: {
    chat: asked('last role `assistant`', { messages: begun }),
    responses: asked('last role `assistant`', { input: begun }),
    messages: asked('last role `assistant`', { messages: begun }),
    native: asked('last role `assistant`', { messages: begun }),
  },
  at: {
    openai_chat: lost(PREFILL, { listed: { wire: { messages: begun } } }),
    openai_responses: lost(PREFILL, {
      listed: { wire: { input: [{ role: 'user' }, { role: 'assistant' }] } },
    }),
    anthropic_messages: lost(PREFILL, {
      listed: { wire: { messages: [{ role: 'user' }, { role: 'assistant', content: [text('One,')] }] } },
    }),
    gemini: lost(PREFILL, {
      listed: { wire: { contents: [{ role: 'user' }, { role: 'model', parts: [{ text: 'One,' }] }] } },
    }),
    bedrock_converse: lost(PREFILL, {
      listed: { wire: { messages: [{ role: 'user' }, { role: 'assistant', content: [{ text: 'One,' }] }] } },
    }),
  },
};

const unknown: Feature = {
  name: 'a field that this page does not list',
  says: {
    chat: asked('any', { shade: 'blue' }),
    responses: asked('any', { shade: 'blue' }),
    messages: asked('any', { shade: 'blue' }),
    completions: asked('any', { shade: 'blue' }),
  },
  at: {
    openai_chat: lost('behaviour:unknown_parameter_dropped', { gone: ['shade'] }),
    openai_responses: lost('behaviour:unknown_parameter_dropped', { gone: ['shade'] }),
    anthropic_messages: lost('behaviour:unknown_parameter_dropped', { gone: ['shade'] }),
    gemini: lost('behaviour:unknown_parameter_dropped', { gone: ['shade'] }),
    bedrock_converse: lost('behaviour:unknown_parameter_dropped', { gone: ['shade'] }),
  },
  note: 'The native dialect refuses a field that it does not know; it has versions instead.',
};

const emptyText: Feature = {
  name: 'an empty text among others',
  says: {
    chat: asked('part `text`', turn(text(''), text('Hi'))),
    messages: asked('block `text`', turn(text(''), text('Hi'))),
    native: asked('part `text`', turn(text(''), text('Hi'))),
  },
  at: {
    openai_chat: exact(sent(text(''), text('Hi'))),
    openai_responses: exact({ input: [{ role: 'user' }] }),
    anthropic_messages: exact(sent(text('Hi')), { as: 'left out' }),
    gemini: exact({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }, { as: 'left out' }),
    bedrock_converse: exact(sent({ text: 'Hi' }), { as: 'left out' }),
  },
};

export const messages: Group = {
  title: 'Turns and instructions',
  features: [system, developer, later, adjacent, emptyText, name, prefill, unknown],
};
