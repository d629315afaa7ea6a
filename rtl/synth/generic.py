"""Writes a small Liberty file of our own, so that `make area` works offline without a real library.

Areas are in gate equivalents (NAND2 = 1), at the usual four transistors per gate equivalent
(Weste and Harris, CMOS VLSI Design, gives the transistor counts of the static CMOS gates). Delays
are logical effort with a unit of 5 ps: they rank paths and do not predict silicon.
"""

import pathlib
import sys

# name, inputs, function, transistors, logical effort and parasitic delay (Weste and Harris, 4.4),
# drive
GATES = [
    ("INV", "A", "!A", 2, 1.0, 1.0, 1),
    ("INV4", "A", "!A", 8, 1.0, 1.0, 4),
    ("BUF", "A", "A", 4, 1.0, 2.0, 1),
    ("BUF4", "A", "A", 10, 1.0, 2.0, 4),
    ("BUF16", "A", "A", 40, 4.0, 2.0, 16),
    ("NAND2", "AB", "!(A&B)", 4, 4 / 3, 2.0, 1),
    ("NAND3", "ABC", "!(A&B&C)", 6, 5 / 3, 3.0, 1),
    ("NAND4", "ABCD", "!(A&B&C&D)", 8, 2.0, 4.0, 1),
    ("NOR2", "AB", "!(A|B)", 4, 5 / 3, 2.0, 1),
    ("NOR3", "ABC", "!(A|B|C)", 6, 7 / 3, 3.0, 1),
    ("AND2", "AB", "A&B", 6, 4 / 3, 3.0, 1),
    ("OR2", "AB", "A|B", 6, 5 / 3, 3.0, 1),
    ("AOI21", "ABC", "!((A&B)|C)", 6, 2.0, 7 / 3, 1),
    ("OAI21", "ABC", "!((A|B)&C)", 6, 2.0, 7 / 3, 1),
    ("AOI22", "ABCD", "!((A&B)|(C&D))", 8, 2.0, 4.0, 1),
    ("OAI22", "ABCD", "!((A|B)&(C|D))", 8, 2.0, 4.0, 1),
    ("XOR2", "AB", "A^B", 10, 4.0, 4.0, 1),
    ("XNOR2", "AB", "!(A^B)", 10, 4.0, 4.0, 1),
    ("MUX2", "ABS", "(A&!S)|(B&S)", 12, 2.0, 4.0, 1),
]
UNIT_PS = 5.0
LOAD = 100.0  # the tables' larger load, in inverter inputs


def pin(name: str, attributes: str, body: str = "") -> str:
    return f"    pin ({name}) {{ {attributes} {body}}}\n"


def table(kind: str, template: str, low: float, high: float) -> str:
    """A table of two loads (columns) for two slews (rows): the slew does not matter."""
    row = f'"{low:.2f}, {high:.2f}"'
    return f"{kind} ({template}) {{ values ({row}, {row}); }} "


def timing(related: str, kind: str, intrinsic: float, resistance: float) -> str:
    """Delay = intrinsic + resistance * load; the slew follows the load."""
    edge = f"timing_type : {kind}; " if kind else ""
    delay = intrinsic + resistance * LOAD, 2 * resistance * LOAD
    text = f'timing () {{ related_pin : "{related}"; {edge}'
    for name in ("cell_rise", "cell_fall"):
        text += table(name, "delay", intrinsic, delay[0])
    for name in ("rise_transition", "fall_transition"):
        text += table(name, "delay", resistance, delay[1])
    return text + "} "


def constraint(clock: str, kind: str, value: float) -> str:
    text = f'timing () {{ related_pin : "{clock}"; timing_type : {kind}; '
    for name in ("rise_constraint", "fall_constraint"):
        text += table(name, "check", value, value)
    return text + "} "


def gate(
    name: str,
    inputs: str,
    function: str,
    transistors: int,
    effort: float,
    parasitic: float,
    drive: int,
) -> str:
    text = f"  cell ({name}) {{\n    area : {transistors / 4};\n"
    for letter in inputs:
        text += pin(letter, f"direction : input; capacitance : {effort:.3f};")
    arcs = "".join(timing(letter, "", parasitic * UNIT_PS, UNIT_PS / drive) for letter in inputs)
    text += pin("Y", f'direction : output; function : "{function}";', arcs)
    return text + "  }\n"


def flop(name: str, area: float, reset: bool) -> str:
    clear = 'clear : "!RN"; ' if reset else ""
    text = f"  cell ({name}) {{\n    area : {area};\n"
    text += f'    ff (IQ, IQN) {{ clocked_on : "CK"; next_state : "D"; {clear}}}\n'
    checks = constraint("CK", "setup_rising", 6 * UNIT_PS) + constraint("CK", "hold_rising", 0)
    text += pin("D", "direction : input; capacitance : 1.0;", checks)
    text += pin("CK", "direction : input; clock : true; capacitance : 1.0;")
    if reset:
        text += pin("RN", "direction : input; capacitance : 1.0;")
    arc = timing("CK", "rising_edge", 10 * UNIT_PS, UNIT_PS)
    return text + pin("Q", 'direction : output; function : "IQ";', arc) + "  }\n"


def latch() -> str:
    text = "  cell (LATCH) {\n    area : 4.0;\n"
    text += '    latch (IQ, IQN) { enable : "G"; data_in : "D"; }\n'
    checks = constraint("G", "setup_falling", 4 * UNIT_PS)
    text += pin("D", "direction : input; capacitance : 1.0;", checks)
    text += pin("G", "direction : input; clock : true; capacitance : 1.0;")
    arcs = timing("D", "", 6 * UNIT_PS, UNIT_PS) + timing("G", "rising_edge", 8 * UNIT_PS, UNIT_PS)
    return text + pin("Q", 'direction : output; function : "IQ";', arcs) + "  }\n"


def clock_gate() -> str:
    text = '  cell (ICG) {\n    area : 5.5;\n    clock_gating_integrated_cell : "latch_posedge";\n'
    clock = "direction : input; clock : true; clock_gate_clock_pin : true; capacitance : 1.0;"
    text += pin("CK", clock)
    checks = constraint("CK", "setup_rising", 4 * UNIT_PS) + constraint("CK", "hold_rising", 0)
    text += pin("E", "direction : input; clock_gate_enable_pin : true; capacitance : 1.0;", checks)
    arc = timing("CK", "", 3 * UNIT_PS, UNIT_PS)
    out = 'direction : output; clock_gate_out_pin : true; function : "CK";'
    return text + pin("GCK", out, arc) + "  }\n"


def library() -> str:
    """The whole library as text."""
    text = """library (generic) {
  delay_model : table_lookup;
  time_unit : "1ps"; voltage_unit : "1V"; current_unit : "1mA"; pulling_resistance_unit : "1kohm";
  capacitive_load_unit (1, ff);
  input_threshold_pct_rise : 50; input_threshold_pct_fall : 50;
  output_threshold_pct_rise : 50; output_threshold_pct_fall : 50;
  slew_lower_threshold_pct_rise : 20; slew_lower_threshold_pct_fall : 20;
  slew_upper_threshold_pct_rise : 80; slew_upper_threshold_pct_fall : 80;
  nom_voltage : 1.0; nom_temperature : 25; nom_process : 1;
"""
    axes = f'index_1 ("0, 1000"); index_2 ("0, {LOAD}");'
    text += "  lu_table_template (delay) { variable_1 : input_net_transition; "
    text += f"variable_2 : total_output_net_capacitance; {axes} }}\n"
    text += "  lu_table_template (check) { variable_1 : related_pin_transition; "
    text += f"variable_2 : constrained_pin_transition; {axes} }}\n"
    text += "".join(gate(*row) for row in GATES)
    # Flip-flops: two latches of 8 transistors and 4 clock inverters; 20 and 24 with reset.
    return text + flop("DFF", 5.0, False) + flop("DFFR", 6.0, True) + latch() + clock_gate() + "}\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("use: generic.py OUTPUT.lib")
    pathlib.Path(sys.argv[1]).write_text(library())
