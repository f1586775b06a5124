// One call from the browser with a key that is still on screen, so that a person sees a row before leaving the page.
import { type Fault, faultOfResponse, offlineFault } from '../../api/errors.ts';

/** Null when it was answered. */
export async function sendFirstCall(args: {
  base_url: string;
  secret: string;
  model: string;
}): Promise<Fault | null> {
  try {
    const response = await fetch(`${args.base_url}/v1/chat/completions`, {
      method: 'POST',
      credentials: 'omit',
      headers: { authorization: `Bearer ${args.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: args.model,
        messages: [{ role: 'user', content: 'Hello from the console' }],
      }),
    });
    return response.ok ? null : await faultOfResponse(response);
  } catch {
    return {
      ...offlineFault,
      message: `The gateway at ${args.base_url} could not be reached from this browser.`,
    };
  }
}
