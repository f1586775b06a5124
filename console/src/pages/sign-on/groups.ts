// Groups and their roles as a person types them: a line for each, `group = role`. Pure.

const roles = ['admin', 'developer', 'billing', 'viewer'];

type RoleMap = Readonly<Record<string, string>>;

/** The map that `text` says, or what is wrong with it. */
export function readGroups(text: string): { readonly map: RoleMap } | { readonly fault: string } {
  const map = new Map<string, string>();
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '') continue;
    const at = line.lastIndexOf('=');
    const group = line.slice(0, at).trim();
    const role = line
      .slice(at + 1)
      .trim()
      .toLowerCase();
    if (at < 1 || group === '') return { fault: `Write a line as "group = role": ${line}` };
    if (!roles.includes(role)) return { fault: `${role || 'Nothing'} is none of ${roles.join(', ')}.` };
    if (map.has(group)) return { fault: `${group} stands there twice.` };
    map.set(group, role);
  }
  return { map: Object.fromEntries(map) };
}

/** `map` as text. */
export function writeGroups(map: unknown): string {
  return Object.entries((map ?? {}) as RoleMap)
    .map(([group, role]) => `${group} = ${role}`)
    .join('\n');
}
