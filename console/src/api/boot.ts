// Settings that the server writes into the page, because the console cannot know them.

interface Boot {
  readonly base_url?: string;
  readonly signup?: 'closed' | 'invite' | 'open';
  readonly challenge?: { readonly provider: 'turnstile' | 'hcaptcha'; readonly site_key: string };
  /** Of the reseller at whose address this is. */
  readonly storefront?: {
    readonly display_name: string;
    readonly logo_url: string | null;
    readonly accent_light: string;
    readonly accent_dark: string;
    readonly support_email: string | null;
    readonly support_url: string | null;
    readonly terms_url: string | null;
  };
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

/** The storefront at this address; null: it is one of our own. */
export const storefront = boot.storefront ?? null;

/** What the service is called here. */
export const service_name = storefront?.display_name ?? 'LLM gateway';

/** The mark of the service here; null: a storefront without a logo. */
export const mark_url = storefront === null ? '/favicon.svg' : storefront.logo_url;

/** What keeps programs from making accounts; null: nothing. */
export const challenge = boot.challenge ?? null;
