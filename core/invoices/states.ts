// States of India by GST code, as printed in places of supply. Source: the state codes of the GST e-invoice schema.

const states: Readonly<Record<string, string>> = {
  '01': 'Jammu and Kashmir',
  '02': 'Himachal Pradesh',
  '03': 'Punjab',
  '04': 'Chandigarh',
  '05': 'Uttarakhand',
  '06': 'Haryana',
  '07': 'Delhi',
  '08': 'Rajasthan',
  '09': 'Uttar Pradesh',
  '10': 'Bihar',
  '11': 'Sikkim',
  '12': 'Arunachal Pradesh',
  '13': 'Nagaland',
  '14': 'Manipur',
  '15': 'Mizoram',
  '16': 'Tripura',
  '17': 'Meghalaya',
  '18': 'Assam',
  '19': 'West Bengal',
  '20': 'Jharkhand',
  '21': 'Odisha',
  '22': 'Chhattisgarh',
  '23': 'Madhya Pradesh',
  '24': 'Gujarat',
  '25': 'Daman and Diu',
  '26': 'Dadra and Nagar Haveli and Daman and Diu',
  '27': 'Maharashtra',
  '28': 'Andhra Pradesh (before division)',
  '29': 'Karnataka',
  '30': 'Goa',
  '31': 'Lakshadweep',
  '32': 'Kerala',
  '33': 'Tamil Nadu',
  '34': 'Puducherry',
  '35': 'Andaman and Nicobar Islands',
  '36': 'Telangana',
  '37': 'Andhra Pradesh',
  '38': 'Ladakh',
  '97': 'Other Territory',
};

/** Codes that only old GSTINs carry; a new address names the state of today. */
const OLD = new Set(['25', '28']);
/** Union territories without a legislature: their share of the tax is called UTGST. */
const UNION_TERRITORIES = new Set(['04', '25', '26', '31', '35', '38']);

/** The name of a state, or null when `code` is none (old codes included). */
export function stateName(code: string): string | null {
  return states[code] ?? null;
}

/** Whether an address may name `code` as its state. */
export function isStateOfAddress(code: string): boolean {
  return Object.hasOwn(states, code) && !OLD.has(code);
}

/** Whether the state's share of the tax is printed as UTGST. */
export function isUnionTerritory(code: string): boolean {
  return UNION_TERRITORIES.has(code);
}

/** A place of supply as documents print it: `29-Karnataka`. @throws Error (a defect) on a code that is no state. */
export function placeOfSupply(code: string): string {
  const name = stateName(code);
  if (name === null) throw new Error(`not a state code: ${code}`);
  return `${code}-${name}`;
}
