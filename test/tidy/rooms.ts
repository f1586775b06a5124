// The rooms inside core/inference: which may use which.
import { ownImports } from './imports.ts';
import { type Fault, isProduction, type Source } from './sources.ts';

/**
 * Rooms of inference and the rooms that each may use; files beside them may use all. What some formats share because
 * their vendors copied each other is in the `words/` of one of them; what all formats need is in a room that all may
 * use.
 */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  wire: [],
  tokens: [],
  canonical: ['wire'],
  caller: ['wire', 'canonical'],
  upstream: ['wire', 'canonical'],
  formats: ['wire', 'canonical', 'caller', 'upstream'],
  call: ['wire', 'canonical', 'caller', 'upstream', 'tokens', 'formats'],
};

/**
 * Rooms of a call in their order: each may use those before it, and the files beside the rooms. It is the order of what
 * must be known first, not of what happens first: admission writes the first attempt and opens what watches the hold.
 */
export const callRooms = ['attempt', 'settle', 'admit', 'answer', 'stages', 'shadow', 'ask'] as const;

/** Formats that are another one with other members; they may use all of it, others its `words/` alone. */
const variants: ReadonlySet<string> = new Set(['openai-completions openai-chat']);

/** Room, and format within `formats/`, of a file of inference. */
function roomOf(path: string): { room: string; format: string | null } | null {
  const [, top, room, ...rest] = path.split('/');
  if (top !== 'inference' || room === undefined || rest.length === 0) return null;
  return { room, format: room === 'formats' && rest.length > 1 ? (rest[0] as string) : null };
}

/** Formats that each format uses. */
function formatUses(sources: readonly Source[]): Map<string, Set<string>> {
  const uses = new Map<string, Set<string>>();
  for (const source of sources.filter(({ path }) => isProduction(path))) {
    const from = roomOf(source.path)?.format ?? null;
    if (from === null) continue;
    const used = uses.get(from) ?? new Set();
    uses.set(from, used);
    for (const { target } of ownImports(source)) {
      const to = roomOf(target)?.format ?? null;
      if (to !== null && to !== from) used.add(to);
    }
  }
  return uses;
}

/** Whether `from` uses `to`, by itself or by what it uses. */
function reaches(uses: ReadonlyMap<string, ReadonlySet<string>>, from: string, to: string): boolean {
  const seen = new Set([from]);
  for (const format of seen) for (const used of uses.get(format) ?? []) seen.add(used);
  return from !== to && seen.has(to);
}

/** Imports inside inference that point up: from a room to one that may use it, and in a circle between formats. */
export function inferenceRooms(sources: readonly Source[]): Fault[] {
  const uses = formatUses(sources);
  const check = (from: string, target: string): string | null => {
    const [a, b] = [roomOf(from), roomOf(target)];
    if (a === null || b === null) return null;
    if (a.room !== b.room) {
      const allowed = rooms[a.room];
      if (allowed === undefined) return `room ${a.room} of inference is not in the order`;
      return allowed.includes(b.room) ? null : `${a.room} may not use ${b.room}`;
    }
    if (a.format === null || b.format === null || a.format === b.format) return null;
    if (reaches(uses, b.format, a.format)) return `${a.format} and ${b.format} use each other`;
    const inside = target.split('/')[4];
    if (inside === 'words' || variants.has(`${a.format} ${b.format}`)) return null;
    return `past the words of ${b.format}: ${target}`;
  };
  const faults: Fault[] = [];
  for (const source of sources.filter(({ path }) => isProduction(path))) {
    for (const { target, line } of ownImports(source)) {
      const message = check(source.path, target);
      if (message !== null) faults.push({ path: source.path, line, message });
    }
  }
  return faults;
}

const CALL = 'core/inference/call/';

/** The room of a call that `path` stands in; '' beside the rooms, null outside. */
function callRoomOf(path: string): string | null {
  if (!path.startsWith(CALL)) return null;
  const [room, ...rest] = path.slice(CALL.length).split('/');
  return rest.length === 0 ? '' : (room as string);
}

/** Imports between the rooms of a call that point down; the way in, `call.ts`, stands behind them all. */
export function roomsOfCall(sources: readonly Source[]): Fault[] {
  const order = (path: string, room: string) => {
    if (room !== '') return (callRooms as readonly string[]).indexOf(room);
    return path === `${CALL}call.ts` ? callRooms.length : -1;
  };
  const faults: Fault[] = [];
  for (const source of sources.filter(({ path }) => isProduction(path))) {
    const from = callRoomOf(source.path);
    if (from === null) continue;
    if (from !== '' && !(callRooms as readonly string[]).includes(from)) {
      faults.push({ path: source.path, line: 1, message: `room ${from} of a call is not in the order` });
    }
    for (const { target, line } of ownImports(source)) {
      const to = callRoomOf(target);
      if (to === null || order(target, to) <= order(source.path, from)) continue;
      const message = `${from === '' ? 'a file beside the rooms' : from} may not use ${to === '' ? target : to}`;
      faults.push({ path: source.path, line, message });
    }
  }
  return faults;
}
