// What an import could not bring over, so that people see it before they rely on the suite.

export interface Loss {
  /** The case, or the part of the file. */
  readonly place: string;
  /** dropped: it is not in the suite. changed: it is graded or asked in another way than before. */
  readonly kind: 'dropped' | 'changed';
  readonly message: string;
}

const PLACES_SHOWN = 3;

/** Collects what is lost while a file is read. */
export class Losses {
  readonly rows: Loss[] = [];

  dropped(place: string, message: string): void {
    this.rows.push({ place, kind: 'dropped', message });
  }

  changed(place: string, message: string): void {
    this.rows.push({ place, kind: 'changed', message });
  }

  /** Lines for people: each message once, with how often and where first. */
  lines(): string[] {
    const by_message = Map.groupBy(this.rows, ({ kind, message }) => `${kind}: ${message}`);
    return [...by_message].map(([words, rows]) => {
      const places = rows.slice(0, PLACES_SHOWN).map(({ place }) => place);
      const more = rows.length > PLACES_SHOWN ? ` and ${rows.length - PLACES_SHOWN} more` : '';
      return `${words} (${places.join(', ')}${more})`;
    });
  }
}
