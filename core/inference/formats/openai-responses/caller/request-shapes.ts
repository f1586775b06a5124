// The request of POST /v1/responses: tools, text formats and parameters.
import { Type } from 'typebox';
import { named, oneOf } from '../../../../kernel/index.ts';
import {
  anyObject,
  flag,
  Metadata,
  may,
  model,
  parameter,
  stream,
  svc,
  text,
} from '../../../caller/shapes.ts';
import { Item, kind } from './item-shapes.ts';

const FunctionTool = named(
  'ResponsesFunctionTool',
  Type.Object({
    type: kind('function'),
    name: text(),
    description: may(text()),
    parameters: may(anyObject('JSON schema of the arguments.')),
    strict: may(flag()),
  }),
);
const CustomTool = named(
  'ResponsesCustomTool',
  Type.Object({
    type: kind('custom'),
    name: text(),
    description: may(text()),
    format: may(anyObject('Grammar of the input.')),
  }),
);
const Reference = named(
  'ResponsesToolReference',
  Type.Object({ type: oneOf(['function', 'custom'], 'ToolKind'), name: text() }),
);
const ToolChoice = named(
  'ResponsesToolChoice',
  Type.Union([
    oneOf(['auto', 'none', 'required'], 'ToolChoiceWord'),
    Reference,
    named(
      'ResponsesAllowedToolsChoice',
      Type.Object({
        type: kind('allowed_tools'),
        mode: may(oneOf(['auto', 'required'], 'AllowedToolsMode')),
        tools: Type.Array(Reference),
      }),
    ),
  ]),
);
const Format = named(
  'ResponsesTextFormat',
  Type.Union([
    named('ResponsesPlainFormat', Type.Object({ type: oneOf(['text', 'json_object'], 'PlainFormat') })),
    named(
      'ResponsesJsonSchemaFormat',
      Type.Object({
        type: kind('json_schema'),
        name: text(),
        schema: may(named('JsonSchema', anyObject('A JSON schema.'))),
        strict: may(flag()),
      }),
    ),
  ]),
);
const Summary = () => oneOf(['auto', 'concise', 'detailed', 'none'], 'ResponsesSummary');
export const asked = {
  model,
  input: Type.Union([Type.String(), Type.Array(Item, { minItems: 1 })]),
  instructions: may(text('Instructions to the model, before the input.')),
  tools: may(Type.Array(Type.Union([FunctionTool, CustomTool]))),
  tool_choice: may(ToolChoice),
  parallel_tool_calls: may(flag(), 'Whether one turn may make several calls.'),
  reasoning: may(
    named(
      'ResponsesReasoning',
      Type.Object({
        effort: may(oneOf(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'], 'Effort')),
        summary: may(Summary()),
      }),
    ),
  ),
  text: may(
    named(
      'ResponsesTextOptions',
      Type.Object({ format: may(Format), verbosity: may(oneOf(['low', 'medium', 'high'], 'Verbosity')) }),
    ),
  ),
  svc,
};
export const Body = named(
  'ResponsesBody',
  Type.Object({
    ...asked,
    stream,
    max_output_tokens: parameter('max_tokens'),
    temperature: parameter('temperature'),
    top_p: parameter('top_p'),
    top_logprobs: parameter('logprobs'),
    include: may(
      Type.Array(
        Type.String({
          pattern:
            '^(?:reasoning\\.encrypted_content|message\\.(?:output_text\\.logprobs|input_image\\.image_url)|\\w+_call(?:_output)?\\..*)$',
        }),
      ),
      'Additional data in the items of the answer; of tools for example `web_search_call.action.sources`.',
    ),
    truncation: may(oneOf(['auto', 'disabled'], 'ResponsesTruncation')),
    service_tier: may(text()),
    store: may(flag(), 'Answers are never stored; `true` gives a warning.'),
    prompt_cache_key: may(text()),
    user: may(text('Your end user; only a hash of it leaves the gateway.')),
    safety_identifier: may(text()),
    metadata: may(Metadata),
  }),
);
