// An organization's own patterns, run by an engine without backtracking, so that no text can make one take forever.
import { RE2JS } from 're2js';
import { ServiceError } from '../kernel/index.ts';
import { PATTERN_LENGTH_MAX, PATTERNS_MAX, type Scan } from './types.ts';

/**
 * Texts on which a pattern that can match the empty string does so: at an edge, between words, at the end of a line.
 */
const PROBES = ['', 'a', ' a ', 'a b', '1', '-', '\n', 'a\nb', 'Aa1_ é\t'];

/**
 * Steps that the patterns of a list may have once their repeats are written out: each is memory, and time per
 * character.
 */
const STEPS_MAX = 20_000;

function refusal(param: string, message: string): ServiceError {
  return new ServiceError('invalid_pattern', message, { param });
}

function compiled(pattern: string, param: string): RE2JS {
  if (pattern === '') throw refusal(param, 'A pattern has at least one character.');
  if ([...pattern].length > PATTERN_LENGTH_MAX) {
    throw refusal(param, `A pattern has at most ${PATTERN_LENGTH_MAX} characters.`);
  }
  try {
    return RE2JS.compile(pattern);
  } catch {
    const message =
      'This is not a pattern in RE2 syntax, which has no look-around, no back-references and no repeats above 1000.';
    throw refusal(param, message);
  }
}

function matchesNothing(expression: RE2JS): boolean {
  return PROBES.some((probe) => {
    const matcher = expression.matcher(probe);
    while (matcher.find()) if (matcher.end() === matcher.start()) return true;
    return false;
  });
}

/**
 * Checks `patterns` as `data_policy.redact.patterns`; `param` names the list.
 * @throws ServiceError invalid_pattern at the first that is too long or too large, no RE2 syntax, or matches the empty
 * string.
 */
export function checkPatterns(patterns: readonly string[], param: string): void {
  if (patterns.length > PATTERNS_MAX) throw refusal(param, `There are at most ${PATTERNS_MAX} patterns.`);
  let steps = 0;
  patterns.forEach((pattern, at) => {
    const expression = compiled(pattern, `${param}[${at}]`);
    steps += expression.programSize();
    if (steps > STEPS_MAX) {
      const message =
        'The pattern is too large once its repeats are expanded; repeat less, or repeat shorter parts.';
      throw refusal(`${param}[${at}]`, message);
    }
    if (matchesNothing(expression)) {
      throw refusal(`${param}[${at}]`, 'A pattern must not match the empty string.');
    }
  });
}

/** The scan of one pattern. `check` is asked before each search, and throws to end it. @throws as `checkPatterns`. */
export function scanPattern(pattern: string, check: () => void): Scan {
  const expression = compiled(pattern, 'pattern');
  return (text) => {
    let spans: number[] | null = null;
    const matcher = expression.matcher(text);
    check();
    while (matcher.find()) {
      const from = matcher.start();
      const to = matcher.end();
      // An empty match in some rare place replaces nothing.
      if (to > from) {
        spans ??= [];
        spans.push(from, to);
      }
      check();
    }
    return spans;
  };
}
