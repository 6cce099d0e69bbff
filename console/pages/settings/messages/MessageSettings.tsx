import { Button, Group, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { usePermission } from '../../../session/permissions.ts'
import { useSaveTeamSettings, useSettingErrors, type TeamSettings, type TeamSettingsChange } from '../team-settings.ts'

const SETTINGS = [
  'lab_tests_patient_sms_communication_enabled',
  'lab_tests_patient_email_communication_enabled',
  'appointment_booking_url',
  'critical_result_notification_email',
] as const
type Values = Pick<TeamSettings, (typeof SETTINGS)[number]>

/** Whether patients get messages, and where some of them lead. */
export function MessageSettings({ settings }: { settings: TeamSettings }) {
  const canSave = usePermission('update_team_in_org')
  const [changes, setChanges] = useState<Partial<Values>>({})
  const saving = useSaveTeamSettings()
  const errorOf = useSettingErrors(saving.error)
  const values: Values = { ...settings, ...changes }
  const changed = SETTINGS.filter((name) => values[name] !== settings[name])
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const change: TeamSettingsChange = Object.fromEntries(changed.map((name) => [name, values[name]]))
    saving.mutate(change)
  }
  const isAtField = SETTINGS.some((name) => errorOf(name) !== undefined)
  const set = (change: Partial<Values>): void => setChanges({ ...changes, ...change })
  const text = (name: 'appointment_booking_url' | 'critical_result_notification_email') => ({
    value: values[name] ?? '',
    onChange: (event: { currentTarget: { value: string } }) => set({ [name]: event.currentTarget.value || null }),
    error: errorOf(name),
    readOnly: !canSave,
  })
  return (
    <form onSubmit={submit}>
      <Stack gap="lg" maw={560}>
        <MessageSwitches values={values} onChange={set} isReadOnly={!canSave} />
        <TextInput
          label="Page on which patients book at-home appointments"
          description="An address with https; {order_id} in it stands for the order. Empty: messages have no such link"
          {...text('appointment_booking_url')}
        />
        <TextInput
          label="Email for critical results"
          type="email"
          description="Gets a mail about each critical result"
          {...text('critical_result_notification_email')}
        />
        {saving.error && !isAtField && <ErrorNotice error={saving.error} />}
        {canSave ? (
          <Stack gap="sm">
            {changed.length > 0 && <Text size="sm">{describeEffect(changed, values)}</Text>}
            <Group gap="sm">
              <Button type="submit" disabled={!changed.length} loading={saving.isPending}>
                Save settings
              </Button>
              {saving.isSuccess && !changed.length && (
                <Text size="sm" role="status">
                  Saved. Orders that change from now on follow it.
                </Text>
              )}
            </Group>
          </Stack>
        ) : (
          <Text size="sm" c="dimmed">
            Administrators of the team change them.
          </Text>
        )}
      </Stack>
    </form>
  )
}

interface MessageSwitchesProps {
  values: Values
  onChange: (change: Partial<Values>) => void
  isReadOnly: boolean
}

const MessageSwitches = ({ values, onChange, isReadOnly }: MessageSwitchesProps) => (
  <>
    <Switch
      label="Text messages to patients"
      description="An order can have a setting of its own, and a patient can turn them off"
      checked={values.lab_tests_patient_sms_communication_enabled}
      onChange={(event) => onChange({ lab_tests_patient_sms_communication_enabled: event.currentTarget.checked })}
      disabled={isReadOnly}
    />
    <Switch
      label="Emails to patients"
      checked={values.lab_tests_patient_email_communication_enabled}
      onChange={(event) => onChange({ lab_tests_patient_email_communication_enabled: event.currentTarget.checked })}
      disabled={isReadOnly}
    />
  </>
)

/** What saving will do for patients. */
function describeEffect(names: readonly (keyof Values)[], values: Values): string {
  const sentences = [
    ...(names.includes('lab_tests_patient_sms_communication_enabled')
      ? [
          `Patients ${values.lab_tests_patient_sms_communication_enabled ? 'get' : 'get no more'} text messages about their orders.`,
        ]
      : []),
    ...(names.includes('lab_tests_patient_email_communication_enabled')
      ? [`Patients ${values.lab_tests_patient_email_communication_enabled ? 'get' : 'get no more'} emails about their orders.`]
      : []),
    ...(names.includes('appointment_booking_url') ? ['Later messages have the new booking page.'] : []),
    ...(names.includes('critical_result_notification_email') ? ['Later critical results are sent to the new address.'] : []),
  ]
  return sentences.join(' ')
}
