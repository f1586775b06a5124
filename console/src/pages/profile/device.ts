// A browser by the name that it sends, short enough for a list. Pure.

const browsers = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
  [/^curl\//, 'curl'],
] as const;
const systems = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/Windows/, 'Windows'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
] as const;

/** "Firefox on macOS"; what is not known stands as it was sent, cut to 40 characters. */
export function deviceText(user_agent: string | null): string {
  if (!user_agent) return 'unknown program';
  const browser = browsers.find(([mark]) => mark.test(user_agent))?.[1];
  const system = systems.find(([mark]) => mark.test(user_agent))?.[1];
  if (browser === undefined) return user_agent.slice(0, 40);
  return system === undefined ? browser : `${browser} on ${system}`;
}
