import { Button, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { usePermission } from '../../../session/permissions.ts'
import { useSaveTeamSettings, useSettingErrors, type TeamSettings } from '../team-settings.ts'
import { toChange, toValues, type BrandValues } from './brand-form.ts'
import { BrandPreview } from './BrandPreview.tsx'

/** Where the API names a value of the form in its errors. */
const PATHS: Record<keyof BrandValues, string> = {
  company_name: 'brand_information.company_name',
  company_website: 'brand_information.company_website',
  support_email: 'brand_information.support_email',
  support_contact: 'brand_information.support_contact',
  company_address: 'brand_information.company_address',
  brand_color: 'brand_information.brand_color',
  logo_url: 'logo_url',
}

/** Shows the brand and changes it; only what was changed is sent. */
export function BrandForm({ settings }: { settings: TeamSettings }) {
  const canSave = usePermission('update_team_in_org')
  const saved = toValues(settings)
  const [values, setValues] = useState(saved)
  const saving = useSaveTeamSettings()
  const errorOf = useSettingErrors(saving.error)
  const change = toChange(values, saved)
  const isAtField = Object.values(PATHS).some((path) => errorOf(path) !== undefined)
  const field = (name: keyof BrandValues) => ({
    value: values[name],
    onChange: (event: { currentTarget: { value: string } }) => setValues({ ...values, [name]: event.currentTarget.value }),
    error: errorOf(PATHS[name]),
    readOnly: !canSave,
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (change) saving.mutate(change)
  }
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="xl">
      <form onSubmit={submit}>
        <Stack gap="md">
          <TextInput label="Company" description="Empty together with all others: no brand" {...field('company_name')} />
          <TextInput
            label="Logo"
            description="An address with http or https; a company needs one"
            type="url"
            {...field('logo_url')}
          />
          <TextInput label="Website" {...field('company_website')} />
          <TextInput label="Mail for questions" type="email" {...field('support_email')} />
          <TextInput label="Other contact for questions" description="For example a phone number" {...field('support_contact')} />
          <TextInput label="Address" {...field('company_address')} />
          <TextInput label="Color" description="For example #256a8e" {...field('brand_color')} />
          {saving.error && !isAtField && <ErrorNotice error={saving.error} />}
          {canSave ? (
            <Group gap="sm">
              <Button type="submit" disabled={!change} loading={saving.isPending}>
                Save brand
              </Button>
              {saving.isSuccess && !change && (
                <Text size="sm" role="status">
                  Saved. Messages and pages show it from now on.
                </Text>
              )}
            </Group>
          ) : (
            <Text size="sm" c="dimmed">
              Administrators of the team change it.
            </Text>
          )}
        </Stack>
      </form>
      <BrandPreview values={values} />
    </SimpleGrid>
  )
}
