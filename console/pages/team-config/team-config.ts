// The settings of a team in one environment, as a form and as requests.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'

type Team = components['schemas']['OrganizationTeam']
type Settings = components['schemas']['TeamEnvironment']
type UpdateTeam = components['schemas']['UpdateTeam']

export interface TeamConfig {
  name: string
  company_name: string
  company_website: string
  support_email: string
  support_contact: string
  company_address: string
  brand_color: string
  logo_url: string
  critical_result_notification_email: string
  appointment_booking_url: string
  lab_tests_patient_sms_communication_enabled: boolean
  lab_tests_patient_email_communication_enabled: boolean
}

const BRAND = ['company_name', 'company_website', 'support_email', 'support_contact', 'company_address', 'brand_color'] as const
/** Texts that are null when they are empty. */
const CLEARABLE = ['logo_url', 'critical_result_notification_email', 'appointment_booking_url'] as const
const SWITCHES = ['lab_tests_patient_sms_communication_enabled', 'lab_tests_patient_email_communication_enabled'] as const

/** What a person changes belongs to this environment, except the name. */
export function useTeamConfig() {
  const { key, org_id, team, environment } = useTeam()
  const path = { org_id, team_id: team.id }
  return useQuery({
    queryKey: [...key, 'team config'],
    // What was typed stays.
    staleTime: Infinity,
    queryFn: async ({ signal }) =>
      toForm(
        await dataOf(
          api.GET('/v1/org/{org_id}/team/{team_id}', {
            params: { path, query: { include_environment: [environment] } },
            signal,
          }),
        ),
        environment,
      ),
  })
}

function toForm(team: Team, environment: 'sandbox' | 'production'): TeamConfig {
  const settings = team[environment] as Settings
  const brand = settings.brand_information
  return {
    name: team.name,
    ...(Object.fromEntries(BRAND.map((name) => [name, brand?.[name] ?? ''])) as Pick<TeamConfig, (typeof BRAND)[number]>),
    ...(Object.fromEntries(CLEARABLE.map((name) => [name, settings[name] ?? ''])) as Pick<
      TeamConfig,
      (typeof CLEARABLE)[number]
    >),
    ...(Object.fromEntries(SWITCHES.map((name) => [name, settings[name]])) as Pick<TeamConfig, (typeof SWITCHES)[number]>),
  }
}

/** Where the API names a value of the form in its errors. */
export function findPath(name: keyof TeamConfig, environment: string): string {
  if (name === 'name') return 'body.name'
  const isOfBrand = BRAND.some((field) => field === name)
  return `body.${environment}.${isOfBrand ? 'brand_information.' : ''}${name}`
}

/** Saves what differs from the present values. */
export function useSaveTeamConfig(present: TeamConfig) {
  const { key, org_id, team, environment } = useTeam()
  const queryClient = useQueryClient()
  const path = { org_id, team_id: team.id }
  return useMutation({
    mutationFn: async (form: TeamConfig) =>
      toForm(
        await dataOf(
          api.PATCH('/v1/org/{org_id}/team/{team_id}', { params: { path }, body: toUpdate(present, form, environment) }),
        ),
        environment,
      ),
    onSuccess: (config) => queryClient.setQueryData([...key, 'team config'], config),
  })
}

function toUpdate(present: TeamConfig, form: TeamConfig, environment: 'sandbox' | 'production'): UpdateTeam {
  const changed = <Name extends keyof TeamConfig>(names: readonly Name[]): Name[] =>
    names.filter((name) => form[name] !== present[name])
  const brand = Object.fromEntries(changed(BRAND).map((name) => [name, form[name]]))
  const settings = {
    ...(Object.keys(brand).length && { brand_information: brand }),
    ...Object.fromEntries(changed(CLEARABLE).map((name) => [name, form[name] || null])),
    ...Object.fromEntries(changed(SWITCHES).map((name) => [name, form[name]])),
  }
  return {
    ...(form.name !== present.name && { name: form.name }),
    ...(Object.keys(settings).length && { [environment]: settings }),
  }
}
