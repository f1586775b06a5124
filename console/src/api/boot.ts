// Settings that the server writes into the page, because the console cannot know them.

interface Boot {
  readonly base_url?: string;
  readonly signup?: 'closed' | 'invite' | 'open';
  readonly challenge?: { readonly provider: 'turnstile' | 'hcaptcha'; readonly site_key: string };
}

function read(): Boot {
  const text = document.getElementById('boot')?.textContent;
  if (!text) return {};
  try {
    return JSON.parse(text) as Boot;
  } catch {
    return {};
  }
}

const boot = read();

/** Public address of the gateway, as it stands in snippets; without `/v1`. */
export const base_url = boot.base_url ?? location.origin;

/** Who may make an account. */
export const signup = boot.signup ?? 'closed';

/** What keeps programs from making accounts; null: nothing. */
export const challenge = boot.challenge ?? null;
