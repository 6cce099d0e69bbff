import { Stack, Text, Title } from '@mantine/core'
import { colorOf, type BrandValues } from './brand-form.ts'
import classes from './BrandPreview.module.css'

/** How the brand looks to patients, while it is written. The console loads no picture from elsewhere, so the logo is its address. */
export const BrandPreview = ({ values }: { values: BrandValues }) => (
  <Stack gap="sm">
    <Title order={3}>Preview</Title>
    <div className={classes.card}>
      <div className={classes.band} style={{ background: colorOf(values.brand_color) }} />
      <div className={classes.content}>
        <Text fw={600}>{values.company_name || 'No company'}</Text>
        {[values.company_address, values.company_website, values.support_email, values.support_contact]
          .filter(Boolean)
          .map((line) => (
            <Text key={line} size="sm">
              {line}
            </Text>
          ))}
        {values.logo_url && (
          <Text size="xs" c="dimmed">
            Logo: {values.logo_url}
          </Text>
        )}
      </div>
    </div>
    {values.brand_color !== '' && (
      <Text size="sm" c="dimmed">
        Pages of Drawbridge take colors of the form #rrggbb on which white text is readable; callers of the API get any text.
      </Text>
    )}
  </Stack>
)
