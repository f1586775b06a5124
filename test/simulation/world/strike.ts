// What happens to the world of a run.
import { CALM } from '../engine/database.ts';
import { pause } from './payments.ts';
import type { Blow } from './plan.ts';
import type { Post, World } from './run.ts';

/** Calls that a slow ledger lets begin have ended by then. */
const JOURNAL_MS_MAX = 15_000;
const JOURNAL_LOOK_MS = 20;

/** Of a ledger's server that has other things to do. */
const SLOW = { slow: 0.6, slow_ms: 4_000 };

/** Until a gateway keeps settles on its disk, or has had the time to. */
async function untilJournal({ loop, disk }: World, { no }: Post): Promise<void> {
  const deadline_ms = loop.now_ms + JOURNAL_MS_MAX;
  const isKept = () => disk.paths.some((path) => path.startsWith(`/sim/journal-${no}`));
  while (!isKept() && loop.now_ms < deadline_ms) await pause(JOURNAL_LOOK_MS);
}

/** Does what `what` says, at its time, and makes it good again where that is part of it. */
export async function strike(world: World, { at_ms, what }: Blow): Promise<void> {
  await pause(at_ms);
  world.loop.note(`world ${JSON.stringify(what)}`);
  const { servers, loop } = world;
  if ('lasts_ms' in what && what.lasts_ms >= world.lease_seconds * 500) world.holds_at_risk = true;
  switch (what.kind) {
    case 'kill_with_journal':
    case 'kill': {
      const post = world.posts[what.gateway];
      if (what.kind === 'kill_with_journal') {
        await untilJournal(world, post);
        await pause(what.after_ms);
      }
      world.killGateway(post);
      await pause(what.back_ms);
      if (post.actor === null) world.startGateway(post);
      return;
    }
    case 'kill_worker':
      world.killWorker();
      await pause(what.back_ms);
      if (world.worker === null) world.startWorker();
      return;
    case 'cut_all':
      for (const server of Object.values(servers)) server.cutAll();
      return;
    case 'outage': {
      const server = servers['ledger.sim'];
      server.weather.away = true;
      server.cutAll();
      await pause(what.lasts_ms);
      server.weather.away = false;
      return;
    }
    case 'slow': {
      const { weather } = servers['ledger.sim'];
      Object.assign(weather, SLOW);
      await pause(what.lasts_ms);
      Object.assign(weather, CALM);
      return;
    }
    case 'double': {
      const server = servers['ledger.sim'];
      server.weather.away = true;
      server.cutAll();
      await pause(what.kill_ms);
      const post = world.posts[what.gateway];
      world.killGateway(post);
      await pause(what.lasts_ms - what.kill_ms);
      server.weather.away = false;
      if (post.actor === null) world.startGateway(post);
      return;
    }
    case 'freeze': {
      const { actor } = world.posts[what.gateway];
      if (actor !== null) loop.freeze(actor, what.lasts_ms);
      return;
    }
    case 'skew': {
      const { actor } = world.posts[what.gateway];
      if (actor !== null) actor.skew_ms += what.by_ms;
    }
  }
}
