// Rows of docs/compatibility.md about sampling and stop sequences.
import { exact, lost } from '../say.ts';
import { asked, type Feature, type Group, type Json } from '../types.ts';

interface Sampling {
  readonly name: string;
  readonly field?: string;
  readonly value: unknown;
  readonly messages?: true;
  readonly responses?: true;
  readonly at: Feature['at'];
  readonly note?: string;
}

/** A field that chat, completions and native share, and others where `messages` or `responses` name it. */
function sampling({ name, field, value, messages, responses, at, note }: Sampling): Feature {
  const of = field ?? name.replaceAll('`', '');
  const body: Json = { [of]: value };
  const ask = asked(`\`${of}\``, body);
  return {
    name,
    says: {
      chat: ask,
      ...(responses === undefined ? {} : { responses: ask }),
      ...(messages === undefined ? {} : { messages: ask }),
      completions: ask,
      ...(of === 'top_a' ? {} : { native: asked(`\`generation.${of}\``, { generation: body }) }),
    },
    at,
    ...(note === undefined ? {} : { note }),
  };
}

const DROPPED = 'behaviour:sampling_dropped';
const gone = lost(DROPPED);
const same = (body: Json) => exact(body);
const config = (body: Json) => exact({ generationConfig: body });

const temperature = sampling({
  name: '`temperature` up to 1',
  field: 'temperature',
  value: 0.5,
  messages: true,
  responses: true,
  at: {
    openai_chat: same({ temperature: 0.5 }),
    openai_responses: same({ temperature: 0.5 }),
    anthropic_messages: same({ temperature: 0.5 }),
    gemini: config({ temperature: 0.5 }),
    bedrock_converse: exact({ inferenceConfig: { temperature: 0.5 } }),
  },
  note: 'Models that refuse sampling fields (flag `rejects_sampling`) get none, and the answer has the warning `sampling_dropped`.',
});

const hot = sampling({
  name: '`temperature` from 1 to 2',
  field: 'temperature',
  value: 1.5,
  responses: true,
  at: {
    openai_chat: same({ temperature: 1.5 }),
    openai_responses: same({ temperature: 1.5 }),
    anthropic_messages: lost('behaviour:temperature_clamped', { wire: { temperature: 1 } }),
    gemini: config({ temperature: 1.5 }),
    bedrock_converse: lost('behaviour:temperature_clamped', {
      wire: { inferenceConfig: { temperature: 1 } },
    }),
  },
});

const topP = sampling({
  name: '`top_p`',
  value: 0.9,
  messages: true,
  responses: true,
  at: {
    openai_chat: same({ top_p: 0.9 }),
    openai_responses: same({ top_p: 0.9 }),
    anthropic_messages: same({ top_p: 0.9 }),
    gemini: config({ topP: 0.9 }),
    bedrock_converse: exact({ inferenceConfig: { topP: 0.9 } }),
  },
});

const topK: Feature = {
  ...sampling({
    name: '`top_k`',
    value: 40,
    messages: true,
    at: {
      openai_chat: { ...gone, listed: same({ top_k: 40 }) },
      openai_responses: { ...gone, listed: same({ top_k: 40 }) },
      anthropic_messages: same({ top_k: 40 }),
      gemini: config({ topK: 40 }),
      bedrock_converse: exact({ additionalModelRequestFields: { top_k: 40 } }),
    },
  }),
};

const others: Feature[] = (
  [
    ['min_p', 0.1],
    ['top_a', 0.2],
    ['repetition_penalty', 1.1],
  ] as const
).map(([name, value]) => ({
  ...sampling({
    name: `\`${name}\``,
    value,
    at: {
      openai_chat: { ...gone, listed: same({ [name]: value }) },
      openai_responses: { ...gone, listed: same({ [name]: value }) },
      anthropic_messages: gone,
      gemini: gone,
      bedrock_converse: gone,
    },
  }),
}));

const seed = sampling({
  name: '`seed`',
  value: 7,
  at: {
    openai_chat: same({ seed: 7 }),
    openai_responses: { ...gone, listed: same({ seed: 7 }) },
    anthropic_messages: gone,
    gemini: config({ seed: 7 }),
    bedrock_converse: gone,
  },
});

const penalties: Feature[] = (
  [
    ['frequency_penalty', 'frequencyPenalty'],
    ['presence_penalty', 'presencePenalty'],
  ] as const
).map(([name, wire]) =>
  sampling({
    name: `\`${name}\``,
    value: 0.5,
    at: {
      openai_chat: same({ [name]: 0.5 }),
      openai_responses: { ...gone, listed: same({ [name]: 0.5 }) },
      anthropic_messages: gone,
      gemini: config({ [wire]: 0.5 }),
      bedrock_converse: gone,
    },
  }),
);

const bias = sampling({
  name: '`logit_bias`',
  value: { '50256': -100 },
  at: {
    openai_chat: same({ logit_bias: { '50256': -100 } }),
    openai_responses: { ...gone, listed: same({ logit_bias: { '50256': -100 } }) },
    anthropic_messages: gone,
    gemini: gone,
    bedrock_converse: gone,
  },
});

/** So many stop sequences in each dialect that has them. */
function stops(name: string, list: string[], at: Feature['at']): Feature {
  return {
    name,
    says: {
      chat: asked('`stop`', { stop: list }),
      messages: asked('`stop_sequences`', { stop_sequences: list }),
      completions: asked('`stop`', { stop: list }),
      native: asked('`generation.stop`', { generation: { stop: list } }),
    },
    at,
  };
}

const two = ['END', 'STOP'];
const five = ['1', '2', '3', '4', '5'];
const six = [...five, '6'];
const TOO_MANY = lost('content:stop_too_many');
const NO_STOP = 'content:stop_unsupported';

const stop = [
  stops('up to 4 stop sequences', two, {
    openai_chat: same({ stop: two }),
    openai_responses: lost(NO_STOP, { listed: same({ stop: two }) }),
    anthropic_messages: same({ stop_sequences: two }),
    gemini: config({ stopSequences: two }),
    bedrock_converse: exact({ inferenceConfig: { stopSequences: two } }),
  }),
  stops('5 stop sequences', five, {
    openai_chat: TOO_MANY,
    openai_responses: lost(NO_STOP, { listed: same({ stop: five }) }),
    anthropic_messages: same({ stop_sequences: five }),
    gemini: config({ stopSequences: five }),
    bedrock_converse: exact({ inferenceConfig: { stopSequences: five } }),
  }),
  stops('6 to 16 stop sequences', six, {
    openai_chat: TOO_MANY,
    openai_responses: lost(NO_STOP, { listed: same({ stop: six }) }),
    anthropic_messages: same({ stop_sequences: six }),
    gemini: TOO_MANY,
    bedrock_converse: exact({ inferenceConfig: { stopSequences: six } }),
  }),
];

export const samplingGroup: Group = {
  title: 'Sampling and stops',
  features: [temperature, hot, topP, topK, ...others, seed, ...penalties, bias, ...stop],
};
