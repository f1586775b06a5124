// How a key ring and what is under its keys is shown. Nothing of a key itself is.
import { type Count, type KeyRingStatus, type KeyUse, total } from '@svc/core/keyring/index.ts';

function countLines(counts: readonly Count[]): string[] {
  return counts.map(({ of, values }) => `  ${String(values).padStart(9)}  ${of}`);
}

function workflowLine(open: number | null): string {
  return `  ${String(open ?? '?').padStart(9)}  workflows that run${open === null ? ', not counted yet' : ''}`;
}

function keyLines({ name, id, is_current, sealed, codes, workflows }: KeyUse): string[] {
  const head = `${name}  id ${id}  ${is_current ? 'current' : 'former'}`;
  const needs = `${total(sealed)} sealed values, ${total(codes)} codes that can be used`;
  const runs = workflows === null || is_current ? [] : [workflowLine(workflows.open)];
  return [`${head}: ${needs}`, ...countLines(sealed), ...countLines(codes), ...runs];
}

/** How many sealed values are not under the current key. */
export function outdated({ keys, unnamed }: KeyRingStatus): number {
  const former = keys.filter(({ is_current }) => !is_current);
  return former.reduce((sum, { sealed }) => sum + total(sealed), total(unnamed));
}

/** The status in words. */
export function statusText(status: KeyRingStatus): string {
  const { keys, unnamed, unnamed_codes } = status;
  const lines = keys.flatMap(keyLines);
  if (unnamed.length > 0) {
    lines.push(`under no key that they name: ${total(unnamed)} values`, ...countLines(unnamed));
  }
  if (unnamed_codes.length > 0) {
    lines.push(`of no key that is noted: ${total(unnamed_codes)} codes`, ...countLines(unnamed_codes));
  }
  const left = outdated(status);
  lines.push(left === 0 ? 'all values are under the current key' : `${left} values to be rotated`);
  return lines.join('\n');
}
