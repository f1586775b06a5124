// Rows of docs/compatibility.md about the form of the answer.
import { exact, lost, SCHEMA } from '../say.ts';
import { asked, type Feature, type Group } from '../types.ts';

const named = { name: 'place', schema: SCHEMA, strict: true };

const schema: Feature = {
  name: 'answer that follows a JSON schema',
  says: {
    chat: asked('`response_format`', { response_format: { type: 'json_schema', json_schema: named } }),
    responses: asked('`text.format`', { text: { format: { type: 'json_schema', ...named } } }),
    messages: asked('`output_config.format`', {
      output_config: { format: { type: 'json_schema', schema: SCHEMA } },
    }),
    native: asked('`output.format`', { output: { format: { type: 'json_schema', ...named } } }),
  },
  at: {
    openai_chat: exact({ response_format: { type: 'json_schema', json_schema: { schema: SCHEMA } } }),
    openai_responses: exact({ text: { format: { type: 'json_schema', schema: SCHEMA } } }),
    anthropic_messages: exact({ output_config: { format: { type: 'json_schema', schema: SCHEMA } } }),
    gemini: exact({
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema: SCHEMA },
    }),
    bedrock_converse: exact({
      outputConfig: {
        textFormat: { structure: { jsonSchema: { schema: JSON.stringify(SCHEMA) } } },
      },
    }),
  },
  note: 'Endpoints of models that cannot follow a schema are not used (`capability`).',
};

const INSTRUCTED = 'behaviour:json_object_as_instruction';
const instruction = 'Answer with one JSON object and nothing else.';

const json: Feature = {
  name: 'answer as any JSON',
  says: {
    chat: asked('`response_format`', { response_format: { type: 'json_object' } }),
    responses: asked('`text.format`', { text: { format: { type: 'json_object' } } }),
    native: asked('`output.format`', { output: { format: { type: 'json' } } }),
  },
  at: {
    openai_chat: exact({ response_format: { type: 'json_object' } }),
    openai_responses: exact({ text: { format: { type: 'json_object' } } }),
    anthropic_messages: lost(INSTRUCTED, { wire: { system: [{ type: 'text', text: instruction }] } }),
    gemini: exact({ generationConfig: { responseMimeType: 'application/json' } }),
    bedrock_converse: lost(INSTRUCTED, { wire: { system: [{ text: instruction }] } }),
  },
};

const verbosity: Feature = {
  name: 'verbosity',
  says: {
    chat: asked('`verbosity`', { verbosity: 'low' }),
    responses: asked('`text.verbosity`', { text: { verbosity: 'low' } }),
    native: asked('`output.verbosity`', { output: { verbosity: 'low' } }),
  },
  at: {
    openai_chat: exact({ verbosity: 'low' }),
    openai_responses: exact({ text: { verbosity: 'low' } }),
    anthropic_messages: lost('behaviour:verbosity_dropped', { gone: ['verbosity'] }),
    gemini: lost('behaviour:verbosity_dropped', { gone: ['verbosity'] }),
    bedrock_converse: lost('behaviour:verbosity_dropped', { gone: ['verbosity'] }),
  },
};

const MODALITY = 'content:modality_unsupported';
const spoken = { modalities: ['text', 'audio'] };

const speech: Feature = {
  name: 'answer as audio or image',
  says: {
    chat: asked('`modalities`', spoken),
    native: asked('`output.modalities`', { output: spoken }),
  },
  at: {
    openai_chat: lost(MODALITY, { listed: { wire: spoken } }),
    openai_responses: lost(MODALITY, { listed: { lost: [MODALITY] } }),
    anthropic_messages: lost(MODALITY),
    gemini: lost(MODALITY, {
      listed: { wire: { generationConfig: { responseModalities: ['TEXT', 'AUDIO'] } } },
    }),
    bedrock_converse: lost(MODALITY),
  },
};

const three = { logprobs: true, top_logprobs: 3 };
const LOGPROBS = 'content:logprobs_unsupported';

const logprobs: Feature = {
  name: 'probabilities of tokens',
  says: {
    chat: asked('`logprobs`', three),
    responses: asked('`top_logprobs`', { top_logprobs: 3 }),
    native: asked('`generation.logprobs`', { generation: { logprobs: 3 } }),
  },
  at: {
    openai_chat: exact(three),
    openai_responses: exact({ top_logprobs: 3 }),
    anthropic_messages: lost(LOGPROBS),
    gemini: exact({ generationConfig: { responseLogprobs: true, logprobs: 3 } }),
    bedrock_converse: lost(LOGPROBS),
  },
};

const CANDIDATES = 'content:candidates_unsupported';

const several: Feature = {
  name: 'several answers at once',
  says: {
    chat: asked('`n`', { n: 2 }),
    completions: asked('`n`', { n: 2 }),
    native: asked('`generation.candidates`', { generation: { candidates: 2 } }),
  },
  at: {
    openai_chat: exact({ n: 2 }),
    openai_responses: lost(CANDIDATES),
    anthropic_messages: lost(CANDIDATES),
    gemini: exact({ generationConfig: { candidateCount: 2 } }),
    bedrock_converse: lost(CANDIDATES),
  },
  note: 'The gateway never makes several calls for them, which you would have to pay for.',
};

const cap: Feature = {
  name: 'output cap',
  says: {
    chat: asked('`max_tokens`, `max_completion_tokens`', { max_tokens: 500 }),
    responses: asked('`max_output_tokens`', { max_output_tokens: 500 }),
    messages: asked('`max_tokens` (required)', { max_tokens: 500 }),
    completions: asked('`max_tokens`', { max_tokens: 500 }),
    native: asked('`generation.max_tokens`', { generation: { max_tokens: 500 } }),
  },
  at: {
    openai_chat: exact({ max_tokens: 500 }, { listed: { wire: { max_completion_tokens: 500 } } }),
    openai_responses: exact({ max_output_tokens: 500 }),
    anthropic_messages: exact({ max_tokens: 500 }),
    gemini: exact({ generationConfig: { maxOutputTokens: 500 } }),
    bedrock_converse: exact({ inferenceConfig: { maxTokens: 500 } }),
  },
};

export const output: Group = {
  title: 'Form of the answer',
  features: [schema, json, verbosity, speech, logprobs, several, cap],
};
