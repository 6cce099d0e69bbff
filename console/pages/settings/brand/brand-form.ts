// The values of the form of the brand, and the change that they make.
import type { TeamSettings, TeamSettingsChange } from '../team-settings.ts'

const BRAND_FIELDS = [
  'company_name',
  'company_website',
  'support_email',
  'support_contact',
  'company_address',
  'brand_color',
] as const
type BrandField = (typeof BRAND_FIELDS)[number]

export type BrandValues = Record<BrandField | 'logo_url', string>

/** What the form shows at first. */
export const toValues = ({ brand_information, logo_url }: TeamSettings): BrandValues => ({
  company_name: brand_information?.company_name ?? '',
  company_website: brand_information?.company_website ?? '',
  support_email: brand_information?.support_email ?? '',
  support_contact: brand_information?.support_contact ?? '',
  company_address: brand_information?.company_address ?? '',
  brand_color: brand_information?.brand_color ?? '',
  logo_url: logo_url ?? '',
})

/** The values that differ from what is saved; undefined if none does. Without the name of a company there is no brand. */
export function toChange(values: BrandValues, current: BrandValues): TeamSettingsChange | undefined {
  const changed = BRAND_FIELDS.filter((name) => values[name] !== current[name])
  const logo = values.logo_url !== current.logo_url && { logo_url: values.logo_url || null }
  if (!changed.length && !logo) return undefined
  if (!changed.length) return { ...logo }
  const isRemoved = BRAND_FIELDS.every((name) => values[name] === '')
  return {
    brand_information: isRemoved ? null : Object.fromEntries(changed.map((name) => [name, values[name]])),
    ...logo,
  }
}

const HEX_COLOR = /^#[0-9a-f]{6}$/i

/** The color if it is one that pages take. */
export const colorOf = (text: string): string | undefined => (HEX_COLOR.test(text) ? text : undefined)
