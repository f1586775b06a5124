// Sessions of staff, in the words of the session store that both consoles share.
import { enterRealm, type Session, useSessionState } from '../api/session.ts';

export type StaffRole = 'super' | 'finance' | 'support' | 'catalog' | 'compliance';

interface StaffAnswer {
  readonly staff: {
    readonly id: string | null;
    readonly email: string;
    readonly roles: readonly StaffRole[];
  };
  readonly csrf_token: string;
}

let roles: readonly StaffRole[] = [];

function read(answer: unknown): Session {
  const { staff, csrf_token } = answer as StaffAnswer;
  const { id, email } = staff;
  roles = staff.roles;
  // Nobody of staff is without a second factor, and none belongs to an organisation.
  return {
    user: { id: id ?? email, email, name: email, two_factor: true },
    orgs: [],
    org_id: null,
    csrf_token,
  };
}

/** Makes this page the console of staff. */
export function enterStaff(): void {
  enterRealm({ auth: '/auth', read });
}

/** Whether who is signed in has one of `wanted`; `super` may do everything. The server decides; this is for the screen. */
export function useMay(...wanted: readonly StaffRole[]): boolean {
  useSessionState();
  return roles.some((role) => role === 'super' || wanted.includes(role));
}

/** A role as sessions name it. */
export const roleOf = (role: string): StaffRole => role.toLowerCase() as StaffRole;

/** The roles of who is signed in. */
export function useRoles(): readonly StaffRole[] {
  useSessionState();
  return roles;
}
