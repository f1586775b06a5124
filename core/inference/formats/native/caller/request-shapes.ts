// The request of POST /v1/svc/generate: tools, parameters and preferences.
import { Type } from 'typebox';
import { named, oneOf } from '../../../../kernel/index.ts';
import {
  anyObject,
  flag,
  may,
  model,
  optionMembers,
  parameter,
  stream,
  text,
  texts,
} from '../../../caller/shapes.ts';
import { cache, closed, Family, kind, Message, Ttl } from './part-shapes.ts';
import { EFFORTS, MODES, VERBOSITIES } from './read.ts';

const toolBase = { name: text(), description: may(text()), ...cache };
const Tool = named(
  'Tool',
  Type.Union([
    named(
      'FunctionTool',
      Type.Object(
        {
          kind: may(kind('function')),
          ...toolBase,
          schema: may(anyObject('JSON schema of the arguments.')),
          strict: may(flag()),
        },
        closed,
      ),
    ),
    named(
      'CustomTool',
      Type.Object(
        { kind: kind('custom'), ...toolBase, format: may(anyObject('Grammar of the input.')) },
        closed,
      ),
    ),
    named(
      'ServerTool',
      Type.Object(
        {
          kind: kind('server'),
          name: text(),
          family: Family(),
          payload: anyObject('The tool in its family’s own format; its `type` is the name.'),
          ...cache,
        },
        closed,
      ),
    ),
  ]),
);
const ToolChoice = named(
  'ToolChoice',
  Type.Union([
    Type.Object({ type: oneOf(['auto', 'none', 'required'], 'ToolChoiceWord'), names: may(texts()) }, closed),
    Type.Object({ type: kind('tool'), name: text() }, closed),
  ]),
);
const Generation = named(
  'GenerationOptions',
  Type.Object(
    {
      max_tokens: parameter('max_tokens'),
      temperature: parameter('temperature'),
      top_p: parameter('top_p'),
      top_k: parameter('top_k'),
      min_p: parameter('min_p'),
      stop: parameter('stop'),
      seed: parameter('seed'),
      frequency_penalty: parameter('frequency_penalty'),
      presence_penalty: parameter('presence_penalty'),
      repetition_penalty: parameter('repetition_penalty'),
      logit_bias: parameter('logit_bias'),
      candidates: parameter('candidates'),
      logprobs: parameter('logprobs'),
    },
    closed,
  ),
);
const Reasoning = named(
  'ReasoningOptions',
  Type.Object(
    {
      effort: may(oneOf(EFFORTS, 'Effort')),
      max_tokens: may(Type.Integer({ minimum: 0 })),
      mode: may(oneOf(MODES, 'ReasoningMode')),
      include: may(flag(), 'Whether the answer shows the reasoning; default: true.'),
    },
    closed,
  ),
);
const Output = named(
  'OutputOptions',
  Type.Object(
    {
      modalities: may(texts()),
      format: may(
        named(
          'OutputFormat',
          Type.Union([
            Type.Object(
              {
                type: oneOf(['text', 'json'], 'OutputFormatWord'),
                name: may(Type.String({ maxLength: 64 })),
                strict: may(flag()),
              },
              closed,
            ),
            Type.Object(
              {
                type: kind('json_schema'),
                name: may(Type.String({ maxLength: 64 })),
                schema: named('JsonSchema', anyObject('A JSON schema.')),
                strict: may(flag()),
              },
              closed,
            ),
          ]),
        ),
      ),
      verbosity: may(oneOf(VERBOSITIES, 'Verbosity')),
      audio: may(anyObject('Voice and format of spoken output.')),
    },
    closed,
  ),
);
export const Body = named(
  'GenerateBody',
  Type.Object(
    {
      model,
      messages: Type.Array(Message, { minItems: 1 }),
      tools: may(Type.Array(Tool)),
      tool_choice: may(ToolChoice),
      parallel_tools: may(flag(), 'Whether one turn may make several calls.'),
      generation: may(Generation),
      reasoning: may(Reasoning),
      output: may(Output),
      cache: may(named('CacheOptions', Type.Object({ key: may(text()), ttl: may(Ttl()) }, closed))),
      service_tier: may(text()),
      user: may(text('Your end user; only a hash of it leaves the gateway.')),
      stream,
      ...optionMembers,
    },
    closed,
  ),
);
