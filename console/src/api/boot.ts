// What the server writes into the page: facts that the console cannot know by itself.

interface Boot {
  readonly base_url?: string;
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
