// Shared by tests of several endpoints: a model whose endpoints answer as the test says.
import { errorOf, type Json } from './caller.ts';
import { endChunks, type Handler, refuse, streamHead, textChunk, usageOf, wholeAnswer } from './upstream.ts';
import { bodyOf, type Dialect, idOf, type Kind, send, type World } from './world.ts';

/** Members of a body that ask for the providers in `order`, in this order. */
export const inOrder = (...order: string[]) => ({ svc: { route: { providers: { order } } } });

/** A call of `dialect` to a model of `kind` whose sites answer as `sites` says, and what became of it. */
export async function scripted(
  world: World,
  kind: Kind,
  sites: Record<string, (model: string) => Handler>,
  call: { dialect?: Dialect; more?: object } = {},
) {
  const org = await world.org();
  const { id, upstream } = world.model(kind);
  for (const [site, handler] of Object.entries(sites)) world.script.on(upstream, site, handler(upstream));
  const more = { ...inOrder('script-a', 'script-b'), ...call.more };
  const reply = await send(world, call.dialect ?? 'chat', org.live_key, bodyOf(id, 'Hi', more)).reply;
  const ended = await world.ended(org, idOf(reply));
  return { reply, ended, received: world.script.received(upstream), error: errorOf(reply) as Json };
}

export const answering =
  (stream: boolean) =>
  (model: string): Handler =>
  (response, received) => {
    if (!stream) return refuse(200, wholeAnswer(model))(response, received);
    streamHead(response);
    response.end(`${textChunk(model, 'a whole answer')}${endChunks(model, usageOf(10, 3))}`);
  };
export const refusing =
  (status: number, body: unknown = { error: { message: 'no' } }, headers: Record<string, string> = {}) =>
  (): Handler =>
    refuse(status, body, headers);
