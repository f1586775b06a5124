// In which of its places the ledger of a shard is. A place that the ledger has left refuses whoever comes, and says where it has
// gone; the installation's table says the same a moment later. So a process finds out when it is refused, and asks nobody
// before.
import { MAIN, type ShardAddress, type ShardPlaces } from './shard.ts';

/** Where a shard is, as this process knows. */
export interface Placement {
  readonly shard: string;
  readonly places: readonly ShardAddress[];
  /** The address of the place. */
  readonly url: string;
  /** Resolves when this process has looked once. @throws Error on a place that the settings do not list. */
  ready(): Promise<void>;
  /**
   * Looks again after `tried` did not answer or, as `refused` says, did not take a statement; whether the ledger is
   * elsewhere. @throws as `ready`.
   */
  follow(tried: string, refused: boolean): Promise<boolean>;
}

/** Whom a process asks; both may reject. */
interface PlaceSources {
  /** The installation: the place on record. */
  recorded(shard: string): Promise<string | null>;
  /** The place at `url`: where its ledger has gone. */
  movedTo(url: string): Promise<string | null>;
}

/** A ledger that is always at `url`, which nothing is asked about. */
export function fixedPlacement(url: string): Placement {
  return {
    ...{ shard: MAIN, places: [{ name: MAIN, url }], url },
    ...{ ready: async () => {}, follow: async () => false },
  };
}

/** Where `shard` is, which starts with its first place until somebody looks. */
export function placementOf(shard: ShardPlaces, sources: PlaceSources): Placement {
  // The main ledger is in the database that would be asked.
  return shard.name === MAIN ? fixedPlacement(shard.places[0].url) : new Placed(shard, sources);
}

class Placed implements Placement {
  readonly shard: string;
  readonly places: readonly ShardAddress[];
  readonly #sources: PlaceSources;
  #at: ShardAddress;
  #is_known = false;
  #looking: Promise<void> | null = null;

  constructor({ name, places }: ShardPlaces, sources: PlaceSources) {
    this.shard = name;
    this.places = places;
    this.#sources = sources;
    this.#at = places[0];
  }

  get url(): string {
    return this.#at.url;
  }

  async ready(): Promise<void> {
    if (!this.#is_known) await this.#look();
  }

  async follow(tried: string, refused: boolean): Promise<boolean> {
    // With one place listed a look only says why it refuses.
    if (this.url === tried && (refused || this.places.length > 1)) await this.#look();
    return this.url !== tried;
  }

  /** One look at a time, whoever asks. */
  #look(): Promise<void> {
    this.#looking ??= this.#find().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #find(): Promise<void> {
    const { recorded, movedTo } = this.#sources;
    let at = this.#at;
    try {
      at = this.#named((await recorded(this.shard)) ?? this.shard);
      this.#is_known = true;
    } catch (error) {
      // What cannot be asked says nothing; what it has left says where it went.
      if (error instanceof UnlistedPlace) throw error;
    }
    // With one place listed there is nowhere to follow to.
    for (let left = this.places.length; left > 1; left--) {
      const to = await movedTo(at.url).catch(() => null);
      if (to === null) break;
      at = this.#named(to);
    }
    this.#at = at;
  }

  #named(place: string): ShardAddress {
    const found = this.places.find(({ name }) => name === place);
    if (found === undefined) throw new UnlistedPlace(this.shard, place);
    return found;
  }
}

class UnlistedPlace extends Error {
  override readonly name = 'UnlistedPlace';

  constructor(shard: string, place: string) {
    super(
      `the ledger of ${shard} is in ${place}, which SVC_LEDGER_SHARDS does not list: add it there, and start this program again`,
    );
  }
}

/** Refusals of a place that a ledger has left: of its triggers, and of the rights that programs have lost there. */
const REFUSALS = new Set(['55L02', '42501']);

/** Whether `fault` is what a place says that a ledger may have left; the statement did nothing. */
export function isLeft(fault: unknown): boolean {
  return REFUSALS.has((fault as { code?: string } | null)?.code ?? '');
}
