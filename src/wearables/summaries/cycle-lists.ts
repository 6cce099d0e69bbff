// What is recorded day by day in a menstrual cycle, as phones send it and as it is read. Source: users-wearables.md 9.8.
import { DateOnly, Fields, Nullable, OpenEnum, T } from '../../platform/schema/schema.ts'

const homeTest = (title: string) =>
  T.Array(Fields({ date: DateOnly, test_result: OpenEnum(['negative', 'positive', 'indeterminate']) }, { title }))

export const cycleLists = {
  menstrual_flow: T.Array(
    Fields(
      { date: DateOnly, flow: OpenEnum(['unspecified', 'none', 'light', 'medium', 'heavy']) },
      { title: 'MenstrualFlowEntry' },
    ),
  ),
  cervical_mucus: T.Array(
    Fields(
      { date: DateOnly, quality: OpenEnum(['dry', 'sticky', 'creamy', 'watery', 'egg_white']) },
      { title: 'CervicalMucusEntry' },
    ),
  ),
  intermenstrual_bleeding: T.Array(Fields({ date: DateOnly }, { title: 'IntermenstrualBleedingEntry' })),
  contraceptive: T.Array(
    Fields(
      {
        date: DateOnly,
        type: OpenEnum(['unspecified', 'implant', 'injection', 'iud', 'intravaginal_ring', 'oral', 'patch']),
      },
      { title: 'ContraceptiveEntry' },
    ),
  ),
  detected_deviations: T.Array(
    Fields(
      {
        date: DateOnly,
        deviation: OpenEnum([
          'persistent_intermenstrual_bleeding',
          'prolonged_menstrual_periods',
          'irregular_menstrual_cycles',
          'infrequent_menstrual_cycles',
        ]),
      },
      { title: 'DetectedDeviationEntry' },
    ),
  ),
  ovulation_test: T.Array(
    Fields(
      {
        date: DateOnly,
        test_result: OpenEnum(['negative', 'positive', 'luteinizing_hormone_surge', 'estrogen_surge', 'indeterminate']),
      },
      { title: 'OvulationTestEntry' },
    ),
  ),
  home_pregnancy_test: homeTest('HomePregnancyTestEntry'),
  home_progesterone_test: homeTest('HomeProgesteroneTestEntry'),
  sexual_activity: T.Array(Fields({ date: DateOnly, protection_used: Nullable(T.Boolean()) }, { title: 'SexualActivityEntry' })),
  basal_body_temperature: T.Array(Fields({ date: DateOnly, value: T.Number() }, { title: 'BasalBodyTemperatureEntry' })),
}
export type CycleList = keyof typeof cycleLists
