import { Button, Group, Stack, Switch, TagsInput, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ApiError } from '../../../api/api-error.ts'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { usePermission } from '../../../session/permissions.ts'
import { Section } from '../Section.tsx'
import { useUpdateTeam, type Environment, type TeamEnvironment } from './team-queries.ts'

/** The settings of this form; brand and messages to patients have sections of their own. */
type Settings = Pick<
  TeamEnvironment,
  | 'minor_ordering_enabled'
  | 'partial_webhooks_enabled'
  | 'reject_duplicate_connection'
  | 'sdk_per_device_activity_timeseries'
  | 'critical_result_notification_email'
  | 'appointment_booking_url'
  | 'link_redirect_origins'
>
type SwitchName = {
  [Name in keyof Settings]: Settings[Name] extends boolean ? Name : never
}[keyof Settings]

const SWITCHES: readonly { name: SwitchName; label: string; description: string }[] = [
  { name: 'minor_ordering_enabled', label: 'Orders for minors', description: 'Patients under 18 can have orders.' },
  {
    name: 'partial_webhooks_enabled',
    label: 'Events of partial results',
    description: 'Endpoints receive results before the last one is there.',
  },
  {
    name: 'reject_duplicate_connection',
    label: 'One connection for an account of a provider',
    description: 'A second user who connects the same account is refused.',
  },
  {
    name: 'sdk_per_device_activity_timeseries',
    label: 'Activity of each device',
    description: 'Series from phones keep the devices apart, in place of one series.',
  },
]

const settingsOf = ({
  minor_ordering_enabled,
  partial_webhooks_enabled,
  reject_duplicate_connection,
  sdk_per_device_activity_timeseries,
  critical_result_notification_email,
  appointment_booking_url,
  link_redirect_origins,
}: TeamEnvironment): Settings => ({
  minor_ordering_enabled,
  partial_webhooks_enabled,
  reject_duplicate_connection,
  sdk_per_device_activity_timeseries,
  critical_result_notification_email,
  appointment_booking_url,
  link_redirect_origins,
})

/** What differs from the stored settings. */
function findChanges(form: Settings, current: Settings): Partial<Settings> {
  const names = Object.keys(form) as (keyof Settings)[]
  return Object.fromEntries(
    names.filter((name) => JSON.stringify(form[name]) !== JSON.stringify(current[name])).map((name) => [name, form[name]]),
  )
}

interface EnvironmentFormProps {
  team_id: string
  environment: Environment
  settings: TeamEnvironment
}

/** The settings of a team in one environment. */
export function EnvironmentForm({ team_id, environment, settings }: EnvironmentFormProps) {
  const canUpdate = usePermission('update_team_in_org')
  const stored = settingsOf(settings)
  const [form, setForm] = useState(stored)
  const update = useUpdateTeam(team_id)
  const changes = findChanges(form, stored)
  const hasChanges = Object.keys(changes).length > 0
  const faults = update.error instanceof ApiError ? update.error.fields : []
  const errorOf = (name: keyof Settings) => faults.find(({ field }) => field.startsWith(`body.${environment}.${name}`))?.message
  const hasFieldError = (Object.keys(form) as (keyof Settings)[]).some(errorOf)
  return (
    <Section title={environment === 'sandbox' ? 'Sandbox' : 'Production'}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          update.mutate(
            { [environment]: changes },
            { onSuccess: ({ [environment]: saved }) => saved && setForm(settingsOf(saved)) },
          )
        }}
      >
        <Stack gap="md" maw={560}>
          {SWITCHES.map(({ name, label, description }) => (
            <Switch
              key={name}
              size="sm"
              label={label}
              description={description}
              checked={form[name]}
              disabled={!canUpdate}
              onChange={(event) => setForm({ ...form, [name]: event.currentTarget.checked })}
            />
          ))}
          <TextFields form={form} onChange={setForm} errorOf={errorOf} isReadOnly={!canUpdate} />
          {update.error && !hasFieldError && <ErrorNotice error={update.error} />}
          {canUpdate && (
            <Group gap="sm">
              <Button type="submit" variant="default" disabled={!hasChanges} loading={update.isPending}>
                Save {environment}
              </Button>
              {update.isSuccess && !hasChanges && (
                <Text size="sm" role="status">
                  Saved.
                </Text>
              )}
            </Group>
          )}
        </Stack>
      </form>
    </Section>
  )
}

interface TextFieldsProps {
  form: Settings
  onChange: (form: Settings) => void
  errorOf: (name: keyof Settings) => string | undefined
  isReadOnly: boolean
}

const TextFields = ({ form, onChange, errorOf, isReadOnly }: TextFieldsProps) => (
  <>
    <TextInput
      type="email"
      label="Email for critical results"
      description="Empty: no mail is sent"
      value={form.critical_result_notification_email ?? ''}
      error={errorOf('critical_result_notification_email')}
      readOnly={isReadOnly}
      onChange={({ currentTarget }) => onChange({ ...form, critical_result_notification_email: currentTarget.value || null })}
    />
    <TextInput
      label="Booking page of at-home appointments"
      description="An https address of yours; {order_id} in it stands for the order"
      value={form.appointment_booking_url ?? ''}
      error={errorOf('appointment_booking_url')}
      readOnly={isReadOnly}
      onChange={({ currentTarget }) => onChange({ ...form, appointment_booking_url: currentTarget.value || null })}
    />
    <TagsInput
      label="Where connecting a device may return to"
      description="For example https://app.example.com, or clinic: for an app. Empty: anywhere"
      value={form.link_redirect_origins ?? []}
      error={errorOf('link_redirect_origins')}
      disabled={isReadOnly}
      splitChars={[' ', ',']}
      onChange={(origins) => onChange({ ...form, link_redirect_origins: origins.length ? origins : null })}
    />
  </>
)
