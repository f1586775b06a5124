// What this family cannot express of a request (docs/fidelity.md#losses).
import type { Target } from '../../../canonical/contract.ts';
import { extLosses } from '../../../canonical/ext-losses.ts';
import { splitSystem } from '../../../canonical/instructions.ts';
import { parameters } from '../../../canonical/parameters.ts';
import { outputPreferences } from '../../../canonical/preferences.ts';
import { applyRules } from '../../../canonical/rules.ts';
import { searchLosses, serverToolLoss } from '../../../canonical/tools/server-tools.ts';
import type {
  CanonicalRequest,
  ImagePart,
  Loss,
  MediaSource,
  Message,
  Part,
  Tool,
} from '../../../canonical/types.ts';
import { runsSearch, toolPath } from '../../../canonical/web-search.ts';
import { SEARCH_OPTIONS } from '../words/search.ts';
import { FORMAT, takesDocument } from './content.ts';
import { GENERATION, OUTPUT } from './parameters.ts';
import { planThinking } from './thinking.ts';
import { hasFunctions, keepsStrict, runsTool } from './tools.ts';

type Say = (kind: Loss['class'], code: string, param: string, message: string) => void;

function addDetails(parts: readonly Part[], details: Set<NonNullable<ImagePart['detail']>>): void {
  for (const part of parts) {
    if (part.type === 'image') details.add(part.detail ?? 'auto');
    else if (part.type === 'tool_result' || part.type === 'search_result') addDetails(part.content, details);
  }
}

/** The distinct levels of detail that the images of `request` ask for. */
export function detailsOf(request: CanonicalRequest): ReadonlySet<NonNullable<ImagePart['detail']>> {
  const details = new Set<NonNullable<ImagePart['detail']>>();
  for (const { content } of request.messages) addDetails(content, details);
  return details;
}

/** Everything that `request` would lose on `target`; empty when nothing. */
export function findLosses(request: CanonicalRequest, target: Target): Loss[] {
  const losses: Loss[] = extLosses(request);
  const say: Say = (kind, code, param, message) => {
    losses.push({ class: kind, code, param, message });
  };
  if ((request.anthropic?.betas.length ?? 0) > 0) {
    say('hint', 'beta_ignored', 'anthropic-beta', 'Betas of another API are not sent.');
  }
  if (request.user !== undefined) {
    say('hint', 'user_dropped', 'user', 'This provider has no field for the end user.');
  }
  toolLosses(request, target, say);
  const { output = {} } = request;
  losses.push(...applyRules(parameters, GENERATION, request.generation, { target }).losses);
  losses.push(...applyRules(outputPreferences, OUTPUT, output, { target, output }).losses);
  tierLosses(request, say);
  cacheLosses(request, say);
  historyLosses(request, target, say);
  const cap = request.generation.max_tokens ?? target.capabilities.max_output;
  losses.push(...planThinking(request, target, cap).losses);
  return losses;
}

function toolLosses(request: CanonicalRequest, target: Target, say: Say): void {
  const tools = request.tools ?? [];
  const kept = keepsStrict(request);
  tools.forEach((tool, i) => {
    toolLoss(tool, toolPath(tool, i), { request, target, kept }, say);
  });
  if (request.parallel_tools === false && tools.length > 0) {
    say(
      'behaviour',
      'parallel_dropped',
      'parallel_tool_calls',
      'This provider may call several tools at once.',
    );
  }
  jsonBesideTools(request, target, say);
}

// No model gives a JSON answer when a call is forced, and older ones give none beside tools at all.
function jsonBesideTools(request: CanonicalRequest, target: Target, say: Say): void {
  const format = request.output?.format?.type ?? 'text';
  if (format === 'text' || (request.tools ?? []).length === 0) return;
  const choice = request.tool_choice?.type ?? 'auto';
  const forced = choice === 'required' || choice === 'tool';
  if (forced || (choice !== 'none' && target.flags.includes('json_without_tools'))) {
    say(
      'content',
      'json_with_tools',
      'response_format',
      'This model takes these tools or a JSON answer, not both.',
    );
  }
}

function tellLoss(loss: Loss, say: Say): void {
  say(loss.class, loss.code, loss.param, loss.message);
}

function searchLossesOf(
  tool: Tool,
  param: string,
  facts: { request: CanonicalRequest; target: Target },
  say: Say,
) {
  const { request, target } = facts;
  const losses = searchLosses(request, tool, { path: param, target, carried: SEARCH_OPTIONS });
  for (const loss of losses) tellLoss(loss, say);
  if (!runsSearch(target) || !hasFunctions(request)) return;
  const message = 'This model searches the web or calls functions, not both.';
  tellLoss(serverToolLoss(request, tool, { code: 'search_with_tools', param, message }), say);
}

function toolLoss(
  tool: Tool,
  param: string,
  facts: { request: CanonicalRequest; target: Target; kept: boolean },
  say: Say,
): void {
  if (!facts.target.capabilities.tools) {
    say('content', 'tools_unsupported', param, 'This model does not accept tools.');
  } else if (tool.search !== undefined) {
    searchLossesOf(tool, param, facts, say);
  } else if (tool.kind === 'server') {
    if (!runsTool(tool, facts.request, facts.target)) {
      const message = `Tool '${tool.name}' is not offered here.`;
      tellLoss(serverToolLoss(facts.request, tool, { code: 'server_tool', param, message }), say);
    }
  } else if (tool.kind === 'custom') {
    if (tool.format !== undefined && tool.format['type'] !== 'text') {
      say(
        'content',
        'custom_tool_grammar',
        `${param}.format`,
        'The input of this tool cannot be made to follow a grammar here.',
      );
    } else say('behaviour', 'custom_tool_emulated', param, 'Sent as a function with one text field.');
  } else if (tool.strict === true && !facts.kept) {
    say(
      'behaviour',
      'strict_dropped',
      `${param}.strict`,
      'The schema is enforced only if all tools are strict.',
    );
  }
  if (tool.ext !== undefined && Object.keys(tool.ext).length > 0) {
    const names = Object.keys(tool.ext).join(', ');
    say('hint', 'tool_option_dropped', param, `Not sent to this provider: ${names}.`);
  }
}

function tierLosses({ service_tier }: CanonicalRequest, say: Say): void {
  if (service_tier !== undefined && service_tier !== 'auto' && service_tier !== 'default') {
    say('behaviour', 'service_tier_ignored', 'service_tier', `Tier '${service_tier}' is not offered here.`);
  }
}

function hasHint(parts: readonly Part[]): boolean {
  return parts.some((part) => part.cache !== undefined || ('content' in part && hasHint(part.content)));
}

/** One loss for all cache hints, because they are one request. */
function cacheLosses(request: CanonicalRequest, say: Say): void {
  const hinted =
    request.cache?.hint !== undefined ||
    request.tools?.some((tool) => tool.cache !== undefined) === true ||
    request.messages.some(({ content }) => hasHint(content));
  if (hinted) say('hint', 'cache_hint_dropped', 'cache_control', 'This provider only caches automatically.');
}

function historyLosses(request: CanonicalRequest, target: Target, say: Say): void {
  const { messages } = request;
  const { system, rest } = splitSystem(messages);
  const moved = rest.length === 1 ? -1 : rest.findIndex(({ role }) => role === 'system');
  if (moved >= 0) {
    const param = `messages[${system.length + moved}]`;
    say('behaviour', 'system_position_changed', param, 'This instruction is sent in a turn of the user.');
  }
  if (messages.at(-1)?.role === 'assistant' && !target.capabilities.prefill) {
    const param = `messages[${messages.length - 1}]`;
    say('content', 'prefill_unsupported', param, 'This model does not continue an answer.');
  }
  const details = detailsOf(request);
  if (details.size > 1) {
    say('hint', 'image_detail_dropped', 'messages', 'All images are read with the finest detail asked for.');
  }
  messages.forEach((message, i) => {
    messageLosses(message, `messages[${i}]`, target, say);
  });
}

function messageLosses(message: Message, param: string, target: Target, say: Say): void {
  if (message.name !== undefined) {
    say('hint', 'name_dropped', `${param}.name`, 'This provider has no field for names.');
  }
  for (const name of Object.keys(message.ext ?? {})) {
    // `developer` means `system` outside its own families, so nothing is lost.
    if (name === 'role') continue;
    const kind = name === 'audio' ? 'content' : 'behaviour';
    say(
      kind,
      'unknown_parameter_dropped',
      `${param}.${name}`,
      'Unknown fields are not sent to this provider.',
    );
  }
  message.content.forEach((part, j) => {
    partLosses(part, `${param}.content[${j}]`, target, say);
  });
}

function partLosses(part: Part, param: string, target: Target, say: Say): void {
  const unknown = Object.keys(part.ext ?? {}).filter(
    (name) => !(part.type === 'document' && name === 'source'),
  );
  if (unknown.length > 0) {
    say('behaviour', 'unknown_parameter_dropped', param, `Not sent to this provider: ${unknown.join(', ')}.`);
  }
  if ('src' in part && 'file_id' in part.src && part.src.family !== 'gemini') {
    return say('content', 'file_unsupported', param, 'A file of another provider cannot be read here.');
  }
  switch (part.type) {
    case 'image':
      if (!target.capabilities.vision)
        say('content', 'image_unsupported', param, 'This model does not accept images.');
      return;
    case 'audio':
      if (!target.capabilities.audio)
        say('content', 'audio_unsupported', param, 'This model does not accept audio.');
      return;
    case 'document':
      return documentLosses(part, param, target, say);
    case 'search_result':
      say('behaviour', 'document_flattened', param, 'The search result is sent as text with a header.');
      if (part.citations === true) {
        say('behaviour', 'citations_unsupported', param, 'This endpoint does not cite documents.');
      }
      return innerLosses(part.content, param, target, say);
    case 'reasoning':
      if (part.format === FORMAT) return;
      return say(
        'hint',
        'reasoning_signature_dropped',
        param,
        'Reasoning of another family is not sent to this provider.',
      );
    case 'text':
      if ((part.citations?.length ?? 0) > 0) {
        say('hint', 'citation_dropped', param, 'Citations of earlier answers are not sent back.');
      }
      return;
    case 'tool_result':
      return resultLosses(part, param, target, say);
    case 'server_tool':
      if (part.family === 'gemini') return;
      return say('content', 'server_tool', param, 'A server tool of another family cannot be replayed.');
    case 'video':
    case 'tool_call':
    case 'refusal':
  }
}

function isText(src: MediaSource): boolean {
  return 'text' in src || ('base64' in src && src.media_type.startsWith('text/'));
}

function documentLosses(
  part: Extract<Part, { type: 'document' }>,
  param: string,
  target: Target,
  say: Say,
): void {
  if (!takesDocument(part.src, target)) {
    return say('content', 'document_unsupported', param, 'This endpoint cannot read the document.');
  }
  if (isText(part.src) || part.title !== undefined || part.context !== undefined) {
    say('behaviour', 'document_flattened', param, 'The document is sent as text with a header.');
  }
  if (part.citations === true) {
    say('behaviour', 'citations_unsupported', param, 'This endpoint does not cite documents.');
  }
}

function resultLosses(
  part: Extract<Part, { type: 'tool_result' }>,
  param: string,
  target: Target,
  say: Say,
): void {
  const held = target.capabilities.parameters.includes('function_response_parts');
  if (!held && part.content.some((inner) => 'src' in inner && !isText(inner.src))) {
    say('behaviour', 'tool_media_moved', param, 'Media of the tool result are sent after it in the turn.');
  }
  innerLosses(part.content, param, target, say);
}

function innerLosses(parts: readonly Part[], param: string, target: Target, say: Say): void {
  parts.forEach((inner, k) => {
    partLosses(inner, `${param}.content[${k}]`, target, say);
  });
}
