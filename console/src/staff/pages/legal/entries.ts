// Entries of a list of sub-processors as staff type them: one a line, with semicolons between.

interface Entry {
  readonly id: string;
  readonly name: string;
  readonly category: string;
  readonly location: string;
  readonly purpose: string;
  readonly trains: boolean;
  readonly retentionDays: number | null;
  readonly zdr: boolean;
  readonly regions: string[];
}

/** The entries, or what is wrong with the first line that is none. */
export function readEntries(text: string): { entries: Entry[] | null; fault: string | null } {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const entries: Entry[] = [];
  for (const line of lines) {
    const [id = '', name = '', category = '', location = '', purpose = '', ...more] = line
      .split(';')
      .map((part) => part.trim());
    if (purpose === '' || more.length > 0 || !/^[a-z0-9-]+$/.test(id))
      return { entries: null, fault: `Not an entry: ${line.slice(0, 80)}` };
    const facts = { trains: false, retentionDays: null, zdr: false, regions: [] };
    entries.push({ id, name, category, location, purpose, ...facts });
  }
  return { entries, fault: null };
}
