// Memory of the test system: one port, every access takes Latency cycles, instruction fetches
// FetchLatency. The malloc unit's loads go first; they were issued before what the core does next.
//
// Write-only words: 0x1000_0000 console character, 0x1000_0004 exit code.
module soc_memory #(
  parameter int unsigned Words        = 65536,
  parameter int unsigned Latency      = 1,
  parameter int unsigned FetchLatency = 1,
  parameter int unsigned TagWidth     = 4,
  localparam int unsigned AddrWidth   = $clog2(Words)
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // Core
  input  logic                valid_i,
  input  logic                instr_i,
  output logic                ready_o,
  input  logic [31:0]         addr_i,
  input  logic [31:0]         wdata_i,
  input  logic [3:0]          wstrb_i,
  output logic [31:0]         rdata_o,

  // Loads of the malloc unit
  input  logic                load_valid_i,
  output logic                load_ready_o,
  input  logic [31:0]         load_addr_i,
  input  logic [TagWidth-1:0] load_tag_i,
  output logic                word_valid_o,
  input  logic                word_ready_i,
  output logic [TagWidth-1:0] word_tag_o,
  output logic [31:0]         word_data_o,

  output logic                console_valid_o,
  output logic [7:0]          console_data_o,
  output logic                exit_valid_o,
  output logic [31:0]         exit_code_o
);

  localparam int unsigned CountWidth = 8;

  logic [31:0] memory[Words] /*verilator public_flat_rw*/;

  typedef enum logic [1:0] { Idle, Core, Load, Word } state_e;

  state_e                state_q;
  logic [CountWidth-1:0] count_q;
  logic [31:0]           load_addr_q, data_q;
  logic [TagWidth-1:0]   tag_q;
  logic                  start_core, finish, is_ram, unused_address;

  // Addresses beyond the memory wrap around.
  assign unused_address = ^{addr_i[27:AddrWidth+2], load_addr_q[31:AddrWidth+2], load_addr_q[1:0]};

  assign load_ready_o = (state_q == Idle);
  assign start_core   = (state_q == Idle) && !load_valid_i && valid_i && !ready_o;
  assign is_ram       = addr_i[31:28] == '0;
  assign finish       = (count_q == CountWidth'(1));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= Idle;
      count_q     <= '0;
      ready_o     <= 1'b0;
      rdata_o     <= '0;
      load_addr_q <= '0;
      tag_q       <= '0;
      data_q      <= '0;
    end else begin
      ready_o <= 1'b0;
      unique case (state_q)
        Idle: begin
          if (load_valid_i) begin
            state_q     <= Load;
            load_addr_q <= load_addr_i;
            tag_q       <= load_tag_i;
            count_q     <= CountWidth'(Latency);
          end else if (start_core) begin
            if ((instr_i ? FetchLatency : Latency) == 1) begin
              ready_o <= 1'b1;
              rdata_o <= memory[addr_i[AddrWidth+1:2]];
            end else begin
              state_q <= Core;
              count_q <= CountWidth'((instr_i ? FetchLatency : Latency) - 1);
            end
          end
        end
        Core: begin
          count_q <= count_q - CountWidth'(1);
          if (finish) begin
            state_q <= Idle;
            ready_o <= 1'b1;
            rdata_o <= memory[addr_i[AddrWidth+1:2]];
          end
        end
        Load: begin
          count_q <= count_q - CountWidth'(1);
          if (finish) begin
            state_q <= Word;
            data_q  <= memory[load_addr_q[AddrWidth+1:2]];
          end
        end
        Word: if (word_ready_i) state_q <= Idle;
        default: state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (ready_o && valid_i && is_ram) begin
      for (int unsigned i = 0; i < 4; i++) begin
        if (wstrb_i[i]) memory[addr_i[AddrWidth+1:2]][8*i+:8] <= wdata_i[8*i+:8];
      end
    end
  end

  assign word_valid_o = (state_q == Word);
  assign word_tag_o   = tag_q;
  assign word_data_o  = data_q;

  logic device_write;
  assign device_write    = ready_o && valid_i && (addr_i[31:28] == 4'h1) && (wstrb_i != '0);
  assign console_valid_o = device_write && (addr_i[7:0] == 8'h00);
  assign console_data_o  = wdata_i[7:0];
  assign exit_valid_o    = device_write && (addr_i[7:0] == 8'h04);
  assign exit_code_o     = wdata_i;

endmodule
