// A team's settings in one environment: changes and API format. Pure functions. Source: management-auth.md 7.
import { invalidField, missingField } from '../../platform/http/errors.ts'
import type { BrandInformation, TeamEnvironment, UpdateBrand, UpdateEnvironment } from './schema.ts'

/** As stored with the team in its cell; settings that were never set are absent. */
export type Settings = Readonly<Record<string, unknown>>

/**
 * The settings after a change: absent leaves, null clears. The brand changes field by field. 422: a brand without the name of its company;
 * a company's name without a logo.
 * @param loc the path of the change in the request
 */
export function applyUpdate(settings: Settings, change: UpdateEnvironment, loc: string[]): Settings {
  const { brand_information, ...fields } = change
  const brand =
    brand_information && applyBrandUpdate(settings.brand_information, brand_information, [...loc, 'brand_information'])
  const result = { ...settings, ...fields, ...(brand_information !== undefined && { brand_information: brand }) }
  const { company_name } = (result.brand_information ?? {}) as Partial<BrandInformation>
  if (company_name && !result.logo_url)
    throw invalidField([...loc, 'logo_url'], 'is required where brand_information.company_name is set')
  return result
}

function applyBrandUpdate(brand: unknown, change: UpdateBrand, loc: string[]): unknown {
  const result = { ...(brand as object | null), ...change }
  if (result.company_name === undefined) throw missingField([...loc, 'company_name'])
  return result
}

const defaultBrand = (support_email: string) => ({
  company_website: '',
  support_email,
  support_contact: '',
  company_address: '',
  brand_color: '',
})

/** The settings in API format, with every field. */
export function toWire(settings: Settings, support_email: string): TeamEnvironment {
  const { brand_information, critical_result_notification_email, logo_url, appointment_booking_url, link_redirect_origins } =
    settings as Partial<TeamEnvironment>
  const booleanSetting = (name: keyof TeamEnvironment, defaultValue: boolean) =>
    (settings[name] as boolean | undefined) ?? defaultValue
  return {
    lab_tests_patient_sms_communication_enabled: booleanSetting('lab_tests_patient_sms_communication_enabled', true),
    lab_tests_patient_email_communication_enabled: booleanSetting('lab_tests_patient_email_communication_enabled', true),
    critical_result_notification_email: critical_result_notification_email ?? null,
    brand_information: brand_information ? { ...defaultBrand(support_email), ...brand_information } : null,
    logo_url: logo_url ?? null,
    reject_duplicate_connection: booleanSetting('reject_duplicate_connection', false),
    sdk_per_device_activity_timeseries: booleanSetting('sdk_per_device_activity_timeseries', false),
    partial_webhooks_enabled: booleanSetting('partial_webhooks_enabled', false),
    minor_ordering_enabled: booleanSetting('minor_ordering_enabled', false),
    appointment_booking_url: appointment_booking_url ?? null,
    link_redirect_origins: link_redirect_origins ?? null,
  }
}
