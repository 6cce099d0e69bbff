// Results without a flag beside their range, and what they mean wherever they come from.
import type { Interpretation } from '../../src/lab-values/interpret.ts'

export interface JudgedResult {
  name: string
  result: string
  unit: string | null
  reference_range: string
  interpretation: Interpretation
}

const judgedResult = (
  name: string,
  result: string,
  unit: string | null,
  reference_range: string,
  interpretation: Interpretation,
): JudgedResult => ({ name, result, unit, reference_range, interpretation })

export const judgedResults: JudgedResult[] = [
  judgedResult('TSH', '6.9', 'mIU/L', '0.4 to 4.5', 'abnormal'),
  judgedResult('ALT', '160', 'U/L', 'up to 100', 'abnormal'),
  judgedResult('AST', '40', 'U/L', 'up to 40', 'normal'),
  judgedResult('HDL Cholesterol', '20', 'mg/dL', 'more than 40', 'abnormal'),
  judgedResult('Hemoglobin A1c', '5.7', '%', '<5.7', 'abnormal'),
  judgedResult('Glucose', '99', 'mg/dL', '70-99', 'normal'),
  judgedResult('Ferritin', '<5', 'ng/mL', '15-150', 'abnormal'),
  judgedResult('Triglycerides', '>500', 'mg/dL', '50-700', 'unknown'),
  judgedResult('HIV Antibody', 'Reactive', null, 'Non-Reactive', 'abnormal'),
  judgedResult('HBsAg', 'NON-REACTIVE', null, 'Non-Reactive', 'normal'),
  judgedResult('Chlamydia trachomatis', 'DETECTED', null, 'NOT DETECTED', 'abnormal'),
  judgedResult('Neisseria gonorrhoeae', 'Not Detected', null, 'NOT DETECTED', 'normal'),
  judgedResult('Urine Ketones', 'Trace', null, 'Negative', 'abnormal'),
  judgedResult('Urine Protein', '2+', null, 'Negative', 'abnormal'),
  judgedResult('Urine Nitrite', 'Negative', null, 'Negative', 'normal'),
  judgedResult('Rubella Antibody', 'Equivocal', null, 'Positive', 'unknown'),
]
