// Tools that the provider runs. One that is only offered can be left out where the endpoint does not run it: the model
// then answers without it, and the answer carries a warning. One that is forced cannot.
import type { Adapter, Target } from '../contract.ts';
import type { CanonicalRequest, Loss, Tool, ToolChoice } from '../types.ts';
import { optionLosses, runsSearch, type SearchOption } from '../web-search.ts';

/** Code of the loss of a tool that is left out; routing puts endpoints without it first. */
export const TOOL_DROPPED = 'server_tool_dropped';

/** Whether `target` lists `tool` by its name, or runs searches and it is one. */
export function listsTool(tool: Tool, target: Target): boolean {
  if (tool.search !== undefined) return runsSearch(target);
  const listed = target.capabilities.server_tools;
  return listed.includes('*') || listed.includes(tool.name);
}

/** Whether the model of `request` must use `tool`: it is named, it is all that may be called, or the body itself asks for it. */
export function isForced({ tools = [], tool_choice: choice }: CanonicalRequest, tool: Tool): boolean {
  if (tool.member !== undefined) return true;
  if (choice?.type === 'tool') return choice.name === tool.name;
  if (choice?.type !== 'required') return false;
  const allowed = choice.names === undefined ? null : new Set(choice.names);
  return tools.every(({ kind, name }) => kind === 'server' || allowed?.has(name) === false);
}

/** The loss of a tool that the endpoint does not run; `code` where it is more than an offer. */
export function serverToolLoss(
  request: CanonicalRequest,
  tool: Tool,
  { code, param, message }: Pick<Loss, 'code' | 'param' | 'message'>,
): Loss {
  // A toolset of the caller's own, which only its vendor's models know: without it there may be nothing to work with.
  if (tool.by_caller === true || isForced(request, tool)) return { class: 'content', code, param, message };
  return { class: 'behaviour', code: TOOL_DROPPED, param, message: `${message} It is left out.` };
}

/** Losses of a search from another family on `target`: the whole of it, or options that are not in `carried`. */
export function searchLosses(
  request: CanonicalRequest,
  tool: Tool,
  at: { readonly path: string; readonly target: Target; readonly carried: readonly SearchOption[] },
): Loss[] {
  const { path, target, carried } = at;
  if (runsSearch(target)) return optionLosses(tool, path, carried);
  const code = tool.member === undefined ? 'server_tool' : 'unsupported_parameter';
  const message = 'This endpoint lists no web search with a price.';
  return [serverToolLoss(request, tool, { code, param: path, message })];
}

/** Tools of `request` that the provider would have to run and `target` does not. */
function unrun(request: CanonicalRequest, adapter: Adapter, target: Target): ReadonlySet<Tool> {
  const tools = request.tools?.filter(({ kind, member }) => kind === 'server' && member === undefined) ?? [];
  return new Set(tools.filter((tool) => !adapter.runs(tool, request, target)));
}

/** Whether a tool of `request` is left out at `target`, so that the caller's own bytes cannot go there. */
export function dropsTools(request: CanonicalRequest, adapter: Adapter, target: Target): boolean {
  return unrun(request, adapter, target).size > 0;
}

/** `request` without what `target` does not run, and without a choice that would then name nothing. */
export function withoutUnrun(request: CanonicalRequest, adapter: Adapter, target: Target): CanonicalRequest {
  const left_out = unrun(request, adapter, target);
  if (left_out.size === 0) return request;
  const { tools: _all, tool_choice, ...rest } = request;
  const tools = (request.tools ?? []).filter((tool) => !left_out.has(tool));
  if (tools.length === 0) return rest;
  const choice = choiceAmong(tool_choice, tools);
  return { ...rest, tools, ...(choice === undefined ? {} : { tool_choice: choice }) };
}

function choiceAmong(choice: ToolChoice | undefined, tools: readonly Tool[]): ToolChoice | undefined {
  if (choice === undefined) return undefined;
  const there = new Set(tools.map(({ name }) => name));
  if (choice.type === 'tool') return there.has(choice.name) ? choice : undefined;
  if (choice.names === undefined) return choice;
  const names = choice.names.filter((name) => there.has(name));
  return names.length === 0 ? { type: 'none' } : { ...choice, names };
}
