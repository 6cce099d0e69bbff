// Reports in other languages with Latin letters: their text is no garbage, and they are not read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PageText } from '../pages/page.ts'
import { isEnglish } from './language.ts'
import { qualityOf } from './page-of-file.ts'

const pageOf = (text: string): PageText => ({
  number: 1,
  width: 612,
  height: 792,
  source: 'text',
  words: text.split(/\s+/u).map((word) => ({ text: word, box: { left: 0, top: 0, right: 10, bottom: 10 }, confidence: 1 })),
})

const RESULTS_TURKISH = `Kurgusal Laboratuvarı Tıbbi Tahlil Raporu Hasta Adı Soyadı: Örnek Kişi Doğum Tarihi: 22.01.1980 Cinsiyet: Kadın
  Numune Alma Tarihi: 12.03.2024 Rapor Tarihi: 13.03.2024 Tetkik Adı Sonuç Birim Referans Aralığı Açlık Kan Şekeri 95 mg/dL 70 - 99 Üre 32
  mg/dL 17 - 43 Kreatinin 0,8 mg/dL 0,5 - 0,9 Ürik Asit 4,6 mg/dL 2,6 - 6,0 Toplam Kolesterol 212 mg/dL < 200 Trigliserid 140 mg/dL < 150
  Yüksek Kalsiyum 9,4 mg/dL 8,8 - 10,6 Sodyum 140 mmol/L 136 - 146 Potasyum 4,2 mmol/L 3,5 - 5,1 Lökosit 6,4 Trombosit 240 Sonuçlar hekiminiz
  tarafından değerlendirilmelidir`
const RESULTS_VIETNAMESE = `Khoa Xét Nghiệm PHIẾU KẾT QUẢ XÉT NGHIỆM Họ tên bệnh nhân: Nguyễn Thị Mẫu Ngày sinh: 22/01/1980 Giới tính: Nữ Chẩn
  đoán: Khám sức khỏe định kỳ Bác sĩ chỉ định: Trần Văn Mẫu Ngày lấy mẫu: 12/03/2024 Tên xét nghiệm Kết quả Đơn vị Khoảng tham chiếu Đường huyết
  lúc đói 5.3 mmol/L 3.9 - 6.4 Ure máu 5.1 mmol/L 2.5 - 7.5 Creatinin 68 µmol/L 53 - 97 Axit uric 310 µmol/L 150 - 360 Cholesterol toàn phần 5.4
  mmol/L 3.9 - 5.2 Sắt huyết thanh 14 µmol/L Canxi toàn phần 2.3 mmol/L Số lượng hồng cầu 4.5 T/L Huyết sắc tố 132 g/L Số lượng bạch cầu 6.4
  Số lượng tiểu cầu 240 Ghi chú: kết quả chỉ có giá trị trên mẫu thử Trưởng khoa xét nghiệm Thời gian duyệt kết quả`
const RESULTS_INDONESIAN = `Laboratorium Klinik Fiktif Hasil Pemeriksaan Laboratorium Nama Pasien: Contoh Pasien Tanggal Lahir: 22-01-1980 Jenis
  Kelamin: Perempuan Dokter Pengirim Tanggal Pengambilan: 12-03-2024 Jenis Pemeriksaan Hasil Satuan Nilai Rujukan Glukosa Darah Puasa 95 mg/dL
  Ureum 32 mg/dL Kreatinin 0,8 mg/dL Asam Urat 4,6 mg/dL Kolesterol Total 212 mg/dL Trigliserida 140 mg/dL Besi 60 Kalsium 9,4 mg/dL Leukosit 6,4
  Eritrosit 4,5 Trombosit 240 Hasil pemeriksaan harap dikonsultasikan dengan dokter yang merawat Penanggung jawab laboratorium`
const PROSE_TURKISH = `Sayın hastamız, tahlil sonuçlarınız hekiminiz tarafından klinik bulgularla birlikte değerlendirilmelidir. Referans aralıkları
  yaşa, cinsiyete ve kullanılan yönteme göre değişiklik gösterebilir. Sonuçlarla ilgili sorularınız için laboratuvarımızı arayabilirsiniz. Bu belge
  elektronik imza ile onaylanmıştır, ayrıca ıslak imza gerekmez. Numuneler yedi gün saklanır, bu süre içinde ek tahlil istenebilir.`

test('text in other languages with Latin letters is text, and no English report', () => {
  for (const text of [RESULTS_TURKISH, RESULTS_VIETNAMESE, RESULTS_INDONESIAN, PROSE_TURKISH])
    for (const form of ['NFC', 'NFD']) {
      const page = pageOf(text.normalize(form))
      assert.equal(qualityOf(page), 'good', text.slice(0, 40))
      assert.equal(isEnglish([page]), false, text.slice(0, 40))
    }
})

test('a short report in another language is recognized by its columns and the names of its tests', () => {
  const reports = [
    `Labor Musterstadt Laborbefund Patient: Testa Beispiel geb. 31.01.1990 Abnahme: 04.03.2026 Untersuchung Ergebnis Einheit Referenzbereich
    Natrium 140 mmol/l 135-145 Kalium 4,0 mmol/l 3,5-5,1 Kreatinin 0,9 mg/dl 0,5-0,9 Glukose 95 mg/dl 70-99`,
    `Laboratoire Exemple Patient: Testa Exemple Né(e) le 31/01/1990 Analyse Résultat Unité Valeurs de référence Sodium 140 mmol/L 135-145
    Potassium 4,0 mmol/L 3,5-5,1 Créatinine 80 µmol/L 45-84 Glycémie 5,3 mmol/L`,
    `Laboratorio Ejemplo Paciente: Testa Ejemplo Fecha: 04/03/2026 Prueba Resultado Unidades Valores de referencia Sodio 140 mmol/L 135-145
    Potasio 4,0 mmol/L Creatinina 0,9 mg/dL Glucosa 95 mg/dL 70-99`,
    `Laboratorio Esempio Paziente: Testa Esempio Esame Risultato Unità Riferimento Sodio 140 Potassio 4,0 Creatinina 0,9 Emoglobina 13,5`,
    `Laboratorium Voorbeeld Onderzoek Uitslag Eenheid Referentiewaarden Natrium 140 Kalium 4,0 Kreatinine 80 Hemoglobine 8,5`,
  ]
  for (const text of reports)
    for (const form of ['NFC', 'NFD']) assert.equal(isEnglish([pageOf(text.normalize(form))]), false, text.slice(0, 40))
})

test('an English report with the names of columns in a second language is English', () => {
  const text = `Fictional Laboratory Final Report Patient Name Testa Fictional Date of birth 1990-01-31 Sex Female Test Untersuchung Result Ergebnis
    Units Einheit Reference Range Referenzbereich Sodium Natrium 140 mmol/L Potassium Kalium 4.0 mmol/L Collected Received`
  assert.equal(isEnglish([pageOf(text)]), true)
  assert.equal(isEnglish([pageOf('Sodium 140 mmol/L Potassium 4.0 mmol/L Chloride 102 mmol/L')]), true)
})

test('wrongly decoded letters of an English report are garbage, also if its units are right', () => {
  const report = `Fictional Laboratories Patient Name Jane Sample Date Collected Reference Range Result Flag Units Comprehensive Metabolic Panel
    Glucose Sodium Potassium Chloride Calcium Creatinine Bilirubin Albumin Cholesterol Triglycerides Hemoglobin Hematocrit Platelets Leukocytes
    Neutrophils Lymphocytes Monocytes Eosinophils Basophils Ferritin Transferrin Cortisol Thyroid Vitamin Physician Specimen`
  const shifted = report.replaceAll(/[a-y]/gu, (letter) => String.fromCodePoint(letter.codePointAt(0)! + 1))
  const reversed = [...`${report} mg/dL mmol/L g/dL`].toReversed().join('')
  assert.equal(qualityOf(pageOf(report)), 'good')
  assert.equal(qualityOf(pageOf(`${shifted} mg/dL mmol/L g/dL U/L`)), 'garbage')
  assert.equal(qualityOf(pageOf(reversed)), 'garbage')
})
