// How many requests a minute are answered beside inference (docs/limits.md#requests-beside-inference).
import { count } from '../config-values.ts';
import { setting } from './setting.ts';

export const rateSettings = {
  management_rpm: setting(
    'SVC_MANAGEMENT_RPM',
    'requests per minute of one key or session to everything except inference; 0: no limit',
    600,
    count(0, 1_000_000),
  ),
  scim_rpm: setting(
    'SVC_SCIM_RPM',
    'requests per minute of one directory over SCIM; Entra ID asks for 25 a second and more; 0: no limit',
    3_000,
    count(0, 1_000_000),
  ),
  public_rpm: setting(
    'SVC_PUBLIC_RPM',
    'requests per minute of one address to public routes; 0: no limit',
    60,
    count(0, 1_000_000),
  ),
};
