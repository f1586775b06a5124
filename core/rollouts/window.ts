// What operations that show a policy at work have in common: who may read it, and of which hours.
import { Type } from 'typebox';

/** Those who write policies, and those who read usage. */
export const readers = {
  kind: 'key',
  scopes: ['manage:policies', 'read:usage'],
  session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
} as const;

/** The last hours that are shown; a day where nothing is said. */
export const hoursInput = Type.Optional(Type.Integer({ minimum: 1, maximum: 720, default: 24 }));

/** The beginning of the last `hours` before `at`. */
export function hoursBefore(at: Date, hours: number): Date {
  return new Date(at.getTime() - hours * 3_600_000);
}
