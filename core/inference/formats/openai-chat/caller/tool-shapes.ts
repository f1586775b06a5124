// Tools and output formats in POST /v1/chat/completions, for the OpenAPI document.
import { Type } from 'typebox';
import { named, oneOf } from '../../../../kernel/index.ts';
import { anyObject, flag, may, text } from '../../../caller/shapes.ts';
import { cache, kind } from './message-shapes.ts';
import { ALLOWED_MODES, CHOICES } from './tools.ts';

const FunctionOf = named(
  'ChatFunction',
  Type.Object({
    name: text(),
    description: may(text()),
    parameters: may(anyObject('JSON schema of the arguments.')),
    strict: may(flag(), 'Whether arguments always fit the schema.'),
  }),
);
export const Tool = named(
  'ChatTool',
  Type.Union(
    [
      named('ChatFunctionTool', Type.Object({ type: kind('function'), function: FunctionOf, ...cache })),
      named(
        'ChatCustomTool',
        Type.Object({
          type: kind('custom'),
          custom: Type.Object({
            name: text(),
            description: may(text()),
            format: may(anyObject('Grammar of the input.')),
          }),
          ...cache,
        }),
      ),
    ],
    { description: 'Hosted tools of a compatible server are sent unchanged.' },
  ),
);
const ToolName = named('ChatToolName', Type.Object({ name: text() }));
const Reference = named(
  'ChatToolReference',
  Type.Union([
    named('ChatFunctionReference', Type.Object({ type: kind('function'), function: ToolName })),
    named('ChatCustomToolReference', Type.Object({ type: kind('custom'), custom: ToolName })),
  ]),
);
export const ToolChoice = named(
  'ChatToolChoice',
  Type.Union([
    oneOf(CHOICES, 'ToolChoiceWord'),
    Reference,
    named(
      'ChatAllowedToolsChoice',
      Type.Object({
        type: kind('allowed_tools'),
        allowed_tools: named(
          'ChatAllowedTools',
          Type.Object({
            mode: may(oneOf(ALLOWED_MODES, 'AllowedToolsMode')),
            tools: Type.Array(Reference),
          }),
        ),
      }),
    ),
  ]),
);
const JsonSchemaFormat = named(
  'ChatJsonSchemaFormat',
  Type.Object({
    type: kind('json_schema'),
    json_schema: named(
      'ChatJsonSchema',
      Type.Object({
        name: text(),
        schema: may(named('JsonSchema', anyObject('A JSON schema.'))),
        strict: may(flag()),
      }),
    ),
  }),
);
export const ResponseFormat = named(
  'ChatResponseFormat',
  Type.Union([
    named('ChatPlainFormat', Type.Object({ type: oneOf(['text', 'json_object'], 'PlainFormat') })),
    JsonSchemaFormat,
  ]),
);
