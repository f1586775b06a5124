// The form of the security settings, read and checked. Pure.

interface SecurityForm {
  readonly require_2fa: boolean;
  readonly sso_counts: boolean;
  readonly session_hours: string;
  readonly networks: string;
  readonly key_days: string;
}

export interface SecurityFaults {
  readonly session_hours?: string;
  readonly key_days?: string;
}

interface Security {
  readonly require2fa: boolean;
  readonly ssoCountsAs2fa: boolean;
  readonly sessionHours: number;
  readonly consoleIpAllow: string[];
  readonly keyDefaultExpiryDays: number;
}

function whole(text: string, least: number, most: number): number | null {
  const value = /^\d{1,4}$/.test(text.trim()) ? Number(text.trim()) : Number.NaN;
  return value >= least && value <= most ? value : null;
}

/** Networks as typed: one a line, or with commas. */
export function networksOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((part) => part !== '');
}

/** What the form says, or what is wrong with it. Whether a network is one is for the server to say. */
export function readSecurity(form: SecurityForm): { asked: Security | null; faults: SecurityFaults } {
  const session_hours = whole(form.session_hours, 1, 720);
  const key_days = whole(form.key_days, 0, 730);
  if (session_hours === null || key_days === null) {
    const faults = {
      ...(session_hours === null ? { session_hours: 'A whole number from 1 to 720.' } : {}),
      ...(key_days === null ? { key_days: 'A whole number from 0 to 730.' } : {}),
    };
    return { asked: null, faults };
  }
  const asked = {
    require2fa: form.require_2fa,
    ssoCountsAs2fa: form.sso_counts,
    sessionHours: session_hours,
    consoleIpAllow: networksOf(form.networks),
    keyDefaultExpiryDays: key_days,
  };
  return { asked, faults: {} };
}
