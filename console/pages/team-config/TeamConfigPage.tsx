import { Button, Group, SimpleGrid, Skeleton, Stack, Switch, Text, TextInput, Title } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { Delayed } from '../../components/Delayed.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { Page } from '../../components/Page.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { findPath, useSaveTeamConfig, useTeamConfig, type TeamConfig } from './team-config.ts'

type TextName = { [Name in keyof TeamConfig]: TeamConfig[Name] extends string ? Name : never }[keyof TeamConfig]

/** How a team appears to its patients, and who is told what. */
export function TeamConfigPage() {
  const { data, error, refetch } = useTeamConfig()
  return (
    <Page title="Team settings">
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!data && !error && (
        <Delayed>
          <Skeleton height={360} />
        </Delayed>
      )}
      {data && <ConfigForm config={data} />}
    </Page>
  )
}

function ConfigForm({ config }: { config: TeamConfig }) {
  const { environment } = useTeam()
  const isPermitted = usePermission('update_team_in_org')
  const [form, setForm] = useState(config)
  const saving = useSaveTeamConfig(config)
  const faults = saving.error instanceof ApiError ? saving.error.fields : []
  const text = (name: TextName) => ({
    value: form[name],
    onChange: (event: { currentTarget: { value: string } }) => setForm({ ...form, [name]: event.currentTarget.value }),
    error: faults.find(({ field }) => field === findPath(name, environment))?.message,
    disabled: !isPermitted,
  })
  const flag = (name: Exclude<keyof TeamConfig, TextName>) => ({
    checked: form[name],
    onChange: (event: { currentTarget: { checked: boolean } }) => setForm({ ...form, [name]: event.currentTarget.checked }),
    disabled: !isPermitted,
  })
  const isChanged = (Object.keys(form) as (keyof TeamConfig)[]).some((name) => form[name] !== config[name])
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        saving.mutate(form, { onSuccess: setForm })
      }}
    >
      <Stack gap="lg" maw={720}>
        <TextInput label="Name of the team" description="In both environments" required {...text('name')} />
        <Section title="Brand" says="Patients see it on pages and in messages.">
          <TextInput label="Company" {...text('company_name')} />
          <TextInput label="Website" {...text('company_website')} />
          <TextInput label="Mail for patients" type="email" {...text('support_email')} />
          <TextInput label="Contact for patients" {...text('support_contact')} />
          <TextInput label="Address" {...text('company_address')} />
          <TextInput label="Color" description="For example #256a8e" {...text('brand_color')} />
          <TextInput label="Logo" description="An address on the web" {...text('logo_url')} />
          <TextInput
            label="Booking page"
            description="Where patients book visits at home; {order_id} stands for the order"
            {...text('appointment_booking_url')}
          />
        </Section>
        <Section title="Messages" says="Critical results are told to the team, and the state of an order to the patient.">
          <TextInput label="Mail for critical results" type="email" {...text('critical_result_notification_email')} />
          <Stack gap="sm">
            <Switch label="Text messages to patients" {...flag('lab_tests_patient_sms_communication_enabled')} />
            <Switch label="Mails to patients" {...flag('lab_tests_patient_email_communication_enabled')} />
          </Stack>
        </Section>
        {saving.error && <ErrorNotice error={saving.error} />}
        {saving.isSuccess && !isChanged && <Text role="status">Saved</Text>}
        {isPermitted && (
          <Group>
            <Button type="submit" loading={saving.isPending} disabled={!isChanged}>
              Save
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  )
}

const Section = ({ title, says, children }: { title: string; says: string; children: ReactNode }) => (
  <Stack gap="sm">
    <Title order={2}>{title}</Title>
    <Text size="sm" c="dimmed">
      {says}
    </Text>
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      {children}
    </SimpleGrid>
  </Stack>
)
