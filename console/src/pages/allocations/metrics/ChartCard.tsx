import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import { type PointerEvent, useState } from "react";
import type { Metrics } from "../../../api/queries/metrics";
import { duration } from "../../../parts/Ago";
import { type Chart, type Frame, HEIGHT, type Line, nearest, pathOf, rangeOf, WIDTH } from "./charts";

interface Props {
  chart: Chart;
  metrics: Metrics;
  frame: Omit<Frame, "top">;
}

/** One thing that is measured: now, over time, by whom and how long ago; or why it is not. */
export function ChartCard({ chart, metrics, frame }: Props) {
  const [pointed, setPointed] = useState<number | null>(null);
  const drawn = chart.lines.filter(({ series }) => series.points.length > 0);
  return (
    <Container
      header={<Header variant="h3">{chart.title}</Header>}
      footer={<Sources lines={[...chart.lines, ...chart.beside]} />}
    >
      <dl className="readings">
        {chart.lines.map((line, index) => (
          <Reading
            key={line.name}
            line={line}
            words={chart.words}
            colour={index}
            pointed={pointed}
            step={metrics.step_seconds}
          />
        ))}
        {chart.beside.map((line) => (
          <Reading
            key={line.name}
            line={line}
            words={chart.words}
            colour={null}
            pointed={null}
            step={metrics.step_seconds}
          />
        ))}
      </dl>
      {drawn.length > 0 && (
        <Drawing
          chart={chart}
          metrics={metrics}
          frame={{ ...frame, top: chart.top }}
          pointed={pointed}
          onPoint={setPointed}
        />
      )}
    </Container>
  );
}

interface ReadingProps {
  line: Line;
  words: (value: number) => string;
  colour: number | null;
  pointed: number | null;
  step: number;
}

function Reading({ line: { name, series }, words, colour, pointed, step }: ReadingProps) {
  const then = pointed === null ? null : nearest(series.points, pointed, step);
  const value = pointed === null ? series.latest : (then?.value ?? null);
  return (
    <div className="reading">
      {name && (
        <dt>
          {colour !== null && series.points.length > 0 && <span className={`swatch line-${colour % 8}`} />}
          {name}
        </dt>
      )}
      <dd>
        {value === null ? (
          <span className="none">{pointed === null ? "not known" : "not measured then"}</span>
        ) : (
          words(value)
        )}
        {then && <span className="none"> at {new Date(then.at).toLocaleTimeString()}</span>}
      </dd>
    </div>
  );
}

interface DrawingProps {
  chart: Chart;
  metrics: Metrics;
  frame: Frame;
  pointed: number | null;
  onPoint: (time: number | null) => void;
}

function Drawing({ chart, metrics, frame, pointed, onPoint }: DrawingProps) {
  const { start, end, top } = frame;
  const onMove = ({ clientX, currentTarget }: PointerEvent<SVGSVGElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    onPoint(start + ((clientX - left) / width) * (end - start));
  };
  const said = chart.lines.map(({ name, series }) =>
    [name, rangeOf(series.points, chart.words)].filter(Boolean).join(": "),
  );
  const x = pointed === null ? null : ((pointed - start) / (end - start)) * WIDTH;
  return (
    <div className="drawing">
      <span className="scale">{chart.words(top)}</span>
      <svg
        role="img"
        aria-label={`${chart.title}, last ${duration((end - start) / 1_000)}. ${said.join("; ")}.`}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        onPointerMove={onMove}
        onPointerLeave={() => onPoint(null)}
      >
        {[0, 0.5, 1].map((share) => (
          <line key={share} className="grid" x1={0} x2={WIDTH} y1={HEIGHT * share} y2={HEIGHT * share} />
        ))}
        {x !== null && <line className="pointer" x1={x} x2={x} y1={0} y2={HEIGHT} />}
        {chart.lines.map(({ name, series }, index) => (
          <path
            key={name}
            className={`line line-${index % 8}`}
            d={pathOf(series.points, frame, metrics.step_seconds)}
          />
        ))}
      </svg>
      <div className="times">
        <span>{clock(start)}</span>
        <span>{clock(end)}</span>
      </div>
    </div>
  );
}

function clock(time: number): string {
  return new Date(time).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
}

/** Each source once, with the age of its word, and the reasons of what could not be measured. */
function Sources({ lines }: { lines: Line[] }) {
  const words = lines.map(({ name, series }) => {
    const age = series.age_seconds === null ? "" : `, ${duration(series.age_seconds)} ago`;
    if (series.unavailable === "") return `${series.source}${age}`;
    return `${name && `${name}: `}${series.unavailable} (${series.source}${age})`;
  });
  return (
    <Box color="text-body-secondary" fontSize="body-s">
      {[...new Set(words)].map((each) => (
        <div key={each}>{each}</div>
      ))}
    </Box>
  );
}
